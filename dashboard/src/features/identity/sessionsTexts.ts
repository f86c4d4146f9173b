export const sessions = {
  heading: "Sessions",
  current: "This session",
  lastSeen: "last seen",
  unknownDevice: "Unknown device",
  unknownAddress: "Unknown address",
  end: "End",
  endOf: (device: string) => `End the session of ${device}`,
  endOthers: "End all others",
  endOthersHeading: "End all other sessions?",
  endOthersText: "All other devices are signed out immediately. You stay signed in here.",
  endHeading: "End this session?",
  endText: (device: string) => `${device} is signed out immediately.`,
};
