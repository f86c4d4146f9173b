import type { NewSdkKey } from "../credentials/sdkKeysCalls";
import { NO_KEY } from "../../ui/snippets";
import type { Language, Way } from "./usage";

export const usage = {
  heading: "Use this flag",
  intro:
    "A complete program that evaluates this flag for the user user-42. If it gets no response, the flag counts as off.",
  languages: "Language",
  names: {
    curl: "curl",
    python: "Python",
    node: "Node.js",
    browser: "Browser",
    go: "Go",
    java: "Java",
    rust: "Rust",
    ruby: "Ruby",
    php: "PHP",
    dotnet: ".NET",
  } satisfies Record<Language, string>,
  ways: "Protocol",
  wayNames: { http: "HTTP", openfeature: "OpenFeature", unleash: "Unleash SDK" } satisfies Record<Way, string>,
  hints: {
    http: "Sends each evaluation to the server. A flag that is turned off is off in the next response.",
    openfeature: "OpenFeature's SDK with its OFREP provider, which sends each evaluation to the server.",
    unleash:
      "Evaluates inside the application, with flags that it fetches every few seconds or that are streamed to it.",
    openfeatureBrowser:
      "OpenFeature's SDK for pages. The server evaluates all flags for one user, and tells the page of changes by a stream. Streams need HTTP/2: with HTTP/1.1, those of six tabs take all connections of a browser, and other requests wait.",
    unleashBrowser: "Unleash's client for pages. The server evaluates all flags for one user.",
  },
  install: (name: string) => `Install for ${name}`,
  code: (name: string) => `Program in ${name}`,
  ownKey: "The program contains the project's real SDK key.",
  madeKey: (name: string) =>
    `The program contains the new SDK key “${name}”. It is shown only here, and only until you leave this page.`,
  noKey: (kind: NewSdkKey["kind"], environment: string) =>
    `Replace ${NO_KEY} with a ${kind} key of ${environment}. Keys are shown only when they are created.`,
  createKey: "Create a key and fill it in",
  keyName: (flag: string, kind: string) => `Made for ${flag} (${kind})`,
  notCreated: "The SDK key could not be created",
  keys: "SDK keys",
  evidence: "Has it been used?",
  waiting: "Waiting for your first evaluation…",
  waitingAgain: "Waiting for the next evaluation…",
  waitingLocal: "Waiting for an application that fetches this flag…",
  last: "The last one was",
  stopped: "This page no longer looks for evaluations.",
  goOn: "Look again",
  evaluated: (user: string | null, on: boolean, variant: string | null) =>
    `Evaluated for ${user ?? "a user without id and email"}: ${on ? "on" : "off"}${variant === null ? "" : `, with the variant ${variant}`}.`,
  reported: (application: string, sdk: string, yes: number, no: number) =>
    `${application} (${sdk}) reported it: ${yes.toLocaleString("en")} on, ${no.toLocaleString("en")} off.`,
  connected: (application: string, sdk: string) => `${application} (${sdk}) has fetched the flags.`,
  showHistory: "Show it in the history",
  showApplications: "Show applications",
};
