export const connection = {
  lost: (since: string) => `Not connected since ${since}.`,
  age: (age: string) => `What you see is ${age} old.`,
  trying: "Trying again…",
  tryNow: "Try now",
  back: "Connected again.",
  lastKnown: (at: string) => `Not connected. Last known at ${at}:`,
  unknown: "It is not known which applications have this state, because the server cannot be reached.",
  unknownInstances: "It is not known how the instances are now, because the server cannot be reached.",
};
