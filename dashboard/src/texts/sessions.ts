export const sessions = {
  heading: "Sessions",
  current: "This session",
  lastSeen: "last seen",
  unknownDevice: "Unknown device",
  unknownAddress: "Unknown address",
  end: "End",
  endOf: (device: string) => `End the session of ${device}`,
  endHeading: "End this session?",
  endText: (device: string) => `${device} is signed out immediately.`,
};
