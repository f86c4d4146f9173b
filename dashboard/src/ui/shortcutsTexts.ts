import { isMac } from "./paletteRequests";
import { shellTexts } from "./shellTexts";

/** The keyboard shortcuts: where they work, which they are, and what they do. */
export const shortcuts = {
  heading: "Keyboard shortcuts",
  groups: [
    {
      name: "Everywhere",
      keys: [
        { keys: [isMac ? shellTexts.searchKeysMac : shellTexts.searchKeys], does: "Open the command palette" },
        { keys: ["?"], does: "Show these shortcuts" },
      ],
    },
    {
      name: "List of flags",
      keys: [
        { keys: ["/"], does: "Search" },
        { keys: ["J", "K"], does: "Go to the next or the previous flag" },
        { keys: ["Space"], does: "Turn the flag with the focus on or off" },
        { keys: ["Enter"], does: "Open the flag" },
      ],
    },
    {
      name: "Command palette",
      keys: [
        { keys: ["↑", "↓"], does: "Select another result" },
        { keys: ["Enter"], does: "Open the selected result" },
        { keys: ["Esc"], does: "Close" },
      ],
    },
  ],
  single: "Single-key shortcuts",
  singleHint:
    "If this is off, /, ?, J, K and Space have no special effect. Turn it off if you use speech input. It applies to this browser.",
  examplesHeading: "What you can type into the palette",
  examples: ["turn off new-checkout in production", "switch to staging", "new flag", "copy link", "user-42"],
};
