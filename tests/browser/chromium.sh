#!/usr/bin/env bash
# Debian's chromium and chromium-driver for the tests in this folder: installs them where they are missing and we may.
set -euo pipefail

if command -v chromium >/dev/null && command -v chromedriver >/dev/null; then
    exit 0
fi
remedy="install the packages chromium and chromium-driver, then run make check again"
if ! command -v apt-get >/dev/null; then
    echo "The browser tests need chromium and chromedriver, and there is no apt-get to install them: $remedy." >&2
    exit 1
fi
if [ "$(id -u)" -eq 0 ]; then
    as_root=(env)
elif command -v sudo >/dev/null && sudo --non-interactive true 2>/dev/null; then
    as_root=(sudo --non-interactive env)
else
    echo "The browser tests need chromium and chromedriver, and only root may install them: $remedy." >&2
    exit 1
fi
echo "Installing chromium and chromium-driver for the browser tests"
install() { "${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get "$@"; }
if ! { install update -qq && install install -qq -y --no-install-recommends chromium chromium-driver; } >/dev/null; then
    echo "Installing chromium and chromium-driver failed: $remedy." >&2
    exit 1
fi
