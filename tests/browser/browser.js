// The browser of the tests: Debian's chromium, headless, whose pages may reach nothing.
import { chromium } from "playwright-core";

const ARGUMENTS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

export const launch = () => chromium.launch({ executablePath: process.env.GIPF_CHROMIUM ?? "/usr/bin/chromium", args: ARGUMENTS });

/** Notes what a page must not do: report errors, or ask for anything but what `allowed` says. */
export function watch(page, allowed) {
  const faults = [];
  page.on("console", (message) => faults.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("request", (request) => {
    if (!allowed(request.url())) faults.push(`request: ${request.url()}`);
  });
  return faults;
}
