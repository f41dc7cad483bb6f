// The connection to the studio. It is found again when it was lost: after a restart too, as long as the address is the same.

import { blockOf } from "./team.js";

/** @import { Block } from "./team.js" */
/** @import { Point, Triangle } from "./marks.js" */
/**
 * @typedef {object} Facts of a variant, besides numbers by agent
 * @property {string} name
 * @property {number} agents
 * @property {number} targets
 * @property {number} length steps so far
 * @property {boolean} ended
 * @property {number} most steps
 * @property {boolean} by_hand
 * @property {boolean} recorded
 * @property {number} depth
 * @property {number[]} boundary
 * @property {number[]} cores
 * @property {string} motion
 * @property {string} goal
 * @property {string[]} colours
 * @property {string} coreColour
 * @property {string} lostColour
 * @property {string} ground
 * @property {Point[][]} zones
 * @property {Record<string, unknown>} values of the settings
 */
/**
 * @typedef {object} State
 * @property {number} step
 * @property {boolean} playing
 * @property {number} speed steps per second
 * @property {number} undo
 * @property {number} redo
 * @property {Point} corner
 * @property {Point} size
 * @property {Facts[]} variants
 */
/**
 * @typedef {object} Figures
 * @property {number | null} layers
 * @property {number} depth
 * @property {number} agents
 * @property {number | null} coverage
 * @property {number | null} lloyd
 * @property {number | null} closest
 * @property {number} missed
 * @property {number | null} oldest
 */
/**
 * @typedef {object} Inside
 * @property {number} variant
 * @property {number} agent
 * @property {number} step
 * @property {number} layer
 * @property {string} role
 * @property {string} motion
 * @property {Point} position
 * @property {Point} [goal]
 * @property {Triangle} [triangle]
 * @property {number[]} [hears]
 * @property {number[] | null} [ages]
 * @property {number[] | null} [weights]
 * @property {number[] | null} [becomes]
 * @property {number} [resolution]
 * @property {number} [cell]
 * @property {number} [goal_cell]
 * @property {number} [next_cell]
 * @property {number[]} [value]
 * @property {number[]} [policy]
 * @property {number} [miss]
 * @property {{ slip: number, deviation: number, records: number } | null} [learned]
 * @property {string} [note]
 */
/**
 * @typedef {object} Claim
 * @property {string} title
 * @property {string} verdict
 * @property {string} summary
 * @property {string} equation
 * @property {number | null} agent
 * @property {number | null} step
 */
/**
 * @typedef {object} Control
 * @property {string} key
 * @property {"choice" | "flag" | "integer" | "number" | "text"} kind
 * @property {string} help
 * @property {unknown} default
 * @property {string[]} [choices]
 * @property {number | null} [least]
 * @property {number | null} [most]
 */
/**
 * @typedef {object} FleetFacts who is watched, and what can be done
 * @property {string} name
 * @property {Point} corner
 * @property {Point} size
 * @property {boolean} orders whether there is the operator's key
 * @property {boolean} processes whether agents can be killed and begun again
 * @property {number} frozen_for seconds
 * @property {number} depth
 * @property {number[]} boundary
 * @property {number[]} cores
 * @property {string[]} colours
 * @property {string} coreColour
 * @property {string} lostColour
 * @property {string} ground
 * @property {Point[][]} zones
 */
/**
 * @typedef {object} Flight how far a fleet is; agents by their numbers
 * @property {number} step
 * @property {number} fastest
 * @property {number | null} rounds a second
 * @property {number[]} living
 * @property {number[]} frozen
 * @property {number[]} missed by most
 * @property {number[]} apart who does not agree with most
 * @property {number} beliefs
 * @property {boolean} agreed
 * @property {number} settled
 * @property {boolean} done
 * @property {[number, number]} latency seconds: median, and that of 99 in 100
 * @property {number} messages
 * @property {Record<string, number>} refused
 * @property {string | null} ordered
 * @property {{ loss: number, apart: string }} faults
 * @property {string[]} says
 * @property {{ says: string[], opens: boolean } | null} over
 */
/**
 * @typedef {object} Member one agent of a fleet
 * @property {number} agent
 * @property {number} step
 * @property {boolean} alive
 * @property {boolean} running
 * @property {boolean} frozen
 * @property {Point} position
 * @property {string} role
 * @property {number[]} gone
 * @property {boolean} agrees
 * @property {[number, number][]} hears others, and how old what they said is, in steps
 * @property {boolean} [settled]
 * @property {boolean} [holds]
 * @property {number} [off]
 */
/**
 * @typedef {{ is: "controls", controls: Control[] }
 *   | { is: "state" } & State
 *   | { is: "figures", variants: Figures[] }
 *   | { is: "inside" } & Inside
 *   | { is: "claims", title: string, claims: Claim[] }
 *   | { is: "files", files: string[] }
 *   | { is: "link", link: string }
 *   | { is: "fleet" } & FleetFacts
 *   | { is: "flight" } & Flight
 *   | { is: "member" } & Member
 *   | { is: "done", text: string }
 *   | { is: "error", text: string, key: string | null }} Message
 */

const FIRST_WAIT = 250; // milliseconds before the next try; longer each time
const LONGEST_WAIT = 4000;

export class Live {
  // `hear` gets every JSON message, `see` every block of numbers, `change` whether there is a connection.
  /** @param {{ hear(message: Message): void, see(block: Block): void, change(there: boolean): void }} page */
  constructor(page) {
    this.page = page;
    this.wait = FIRST_WAIT;
    this.connect();
  }

  connect() {
    const address = new URL("live", location.href);
    address.protocol = "ws:";
    address.hash = "";
    const socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.wait = FIRST_WAIT;
      this.page.change(true);
    };
    socket.onmessage = ({ data }) => {
      if (typeof data === "string") this.page.hear(JSON.parse(data));
      else this.page.see(blockOf(data));
    };
    socket.onclose = () => {
      this.page.change(false);
      setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
    };
    this.socket = socket;
  }

  /** @param {string} name */
  say(name, words = {}) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ do: name, ...words }));
  }
}
