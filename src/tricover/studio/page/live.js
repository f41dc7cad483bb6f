// The connection to the studio. It is found again when it was lost: after a restart too, as long as the address is the same.

import { blockOf } from "./team.js";

const FIRST_WAIT = 250; // milliseconds before the next try; longer each time
const LONGEST_WAIT = 4000;

export class Live {
  // `hear` gets every JSON message, `see` every block of numbers, `change` whether there is a connection.
  constructor({ hear, see, change }) {
    Object.assign(this, { hear, see, change });
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
      this.change(true);
    };
    socket.onmessage = ({ data }) => {
      if (typeof data === "string") this.hear(JSON.parse(data));
      else this.see(blockOf(data));
    };
    socket.onclose = () => {
      this.change(false);
      setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
    };
    this.socket = socket;
  }

  say(name, words = {}) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ do: name, ...words }));
  }
}
