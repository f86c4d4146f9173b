/** Colours, fonts and sizes: neutral colours, one signal colour per meaning, WCAG AA contrast in both schemes. */

import { common } from "./commonTexts";
import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from "@mantine/core";

const gray: MantineColorsTuple = [
  "#f8f9fa",
  "#f1f3f5",
  "#e6e9ec",
  "#d9dde1",
  "#c3c9d0",
  "#8b939d",
  "#5a636e",
  "#454d57",
  "#2f363e",
  "#191d22",
];

const dark: MantineColorsTuple = [
  "#dfe3e8",
  "#c0c6ce",
  "#98a1ad",
  "#6b7481",
  "#363d47",
  "#2a3038",
  "#1d2228",
  "#13171c",
  "#0f1216",
  "#0a0c0f",
];

/** Links, focus and interactive elements. */
const signal: MantineColorsTuple = [
  "#eaf2ff",
  "#d3e3fd",
  "#a9c8fa",
  "#7fadf7",
  "#5893f2",
  "#3a7ce8",
  "#2468d8",
  "#175cd3",
  "#124aa9",
  "#0d367d",
];

/** Flags that are on. */
const live: MantineColorsTuple = [
  "#e6f7f0",
  "#cdeee0",
  "#9cdfc4",
  "#66cda4",
  "#3abb88",
  "#1fa774",
  "#128a5e",
  "#0b7650",
  "#095f41",
  "#064530",
];

/** Production, and actions that cannot be undone. */
const alarm: MantineColorsTuple = [
  "#fff0ec",
  "#ffdfd6",
  "#fdbdab",
  "#fb9b80",
  "#f4775a",
  "#e5563b",
  "#d13f25",
  "#b83216",
  "#942710",
  "#6e1c0b",
];

export const theme = createTheme({
  colors: { gray, dark, signal, live, alarm, red: alarm },
  primaryColor: "signal",
  primaryShade: { light: 7, dark: 6 },
  autoContrast: true,
  luminanceThreshold: 0.28,
  fontFamily: '"Inter Variable", system-ui, sans-serif',
  fontFamilyMonospace: '"JetBrains Mono Variable", ui-monospace, monospace',
  headings: {
    fontWeight: "620",
    sizes: { h1: { fontSize: "1.5rem", lineHeight: "1.25" }, h2: { fontSize: "1.0625rem" } },
  },
  fontSizes: { xs: "0.75rem", sm: "0.8125rem", md: "0.875rem", lg: "1rem", xl: "1.125rem" },
  lineHeights: { md: "1.5" },
  defaultRadius: "md",
  cursorType: "pointer",
  respectReducedMotion: true,
  focusRing: "auto",
  components: {
    Badge: { defaultProps: { tt: "none" } },
    Button: { defaultProps: { size: "sm" } },
    TextInput: { defaultProps: { size: "sm" } },
    Textarea: { defaultProps: { size: "sm" } },
    PasswordInput: { defaultProps: { size: "sm" } },
    NumberInput: { defaultProps: { size: "sm" } },
    Select: { defaultProps: { size: "sm" } },
    NativeSelect: { defaultProps: { size: "sm" } },
    Menu: { defaultProps: { withinPortal: false, withInitialFocusPlaceholder: false } },
    Modal: {
      defaultProps: {
        centered: false,
        yOffset: "12vh",
        radius: "lg",
        padding: "lg",
        transitionProps: { transition: "fade", duration: 150 }, // a button that moves while pressed gets no click
        closeButtonProps: { "aria-label": common.close },
        styles: { title: { fontSize: "1.0625rem", fontWeight: 620 } },
        attributes: { header: { role: "none" } }, // a page must not have a second banner
      },
    },
    Notification: { defaultProps: { closeButtonProps: { "aria-label": common.close } } },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: false } },
  },
});

/** The parts of a whole, as lib/partColours.ts names them. */
const parts = {
  light: [signal[7], "#b45309", "#7c3aed", "#0f766e", "#be185d", gray[6]],
  dark: [signal[3], "#f0b35a", "#b79cf7", "#5cc8bd", "#f08bb8", dark[2]],
};

const variablesOf = (colours: readonly string[]) =>
  Object.fromEntries(colours.map((colour, place) => [`--part-${place}`, colour]));

export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--mantine-color-dimmed": gray[6],
    "--mantine-color-placeholder": gray[6],
    "--mantine-color-error": "#b83216",
    "--mantine-color-anchor": signal[7],
    "--line": gray[2],
    "--surface": "#ffffff",
    "--surface-sunken": gray[0],
    "--hover": gray[1],
    "--on": live[7],
    "--off": gray[5],
    "--bar-off": gray[4],
    "--production": alarm[7],
    "--amber": "#8a4b00",
    "--amber-surface": "#fff3dc",
    "--added": live[7],
    "--removed": alarm[7],
    ...variablesOf(parts.light),
  },
  dark: {
    "--mantine-color-dimmed": dark[2],
    "--mantine-color-placeholder": dark[2],
    "--mantine-color-error": alarm[3],
    "--mantine-color-anchor": signal[3],
    "--line": dark[5],
    "--surface": "#181d23",
    "--surface-sunken": dark[8],
    "--hover": dark[6],
    "--on": live[4],
    "--off": dark[3],
    "--bar-off": dark[3],
    "--production": alarm[4],
    "--amber": "#ffc46b",
    "--amber-surface": "#33270f",
    "--added": live[4],
    "--removed": alarm[3],
    ...variablesOf(parts.dark),
  },
});
