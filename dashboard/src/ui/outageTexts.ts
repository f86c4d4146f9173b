export const outage = {
  lost: (since: string) => `Not connected since ${since}.`,
  age: (age: string) => `What you see is ${age} old.`,
  trying: "Trying again…",
  tryNow: "Try now",
  back: "Connected again.",
  lastKnown: (at: string) => `Not connected. Last known at ${at}:`,
  unknown: "The server cannot be reached, so it is not known which applications have received this state.",
  unknownInstances: "The server cannot be reached, so the state of its instances is not known.",
};
