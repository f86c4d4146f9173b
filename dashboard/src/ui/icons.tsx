/** Line icons, 24 by 24. They only accompany text and are hidden from screen readers. */

interface Props {
  readonly size?: number;
  readonly className?: string | undefined;
}

function icon(path: string) {
  return function Icon({ size = 18, className }: Props) {
    return (
      <svg
        className={className}
        width={size}
        height={size}
        viewBox="0 0 24 24"
        fill="none"
        stroke="currentColor"
        strokeWidth={size <= 14 ? 2.2 : 1.8}
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden
      >
        <path d={path} />
      </svg>
    );
  };
}

export const IconAlert = icon("M12 8v5M12 16.5v.01M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18z");
export const IconArchive = icon("M4 4h16v4H4zM6 8v12h12V8M10 12h4");
export const IconArrowDown = icon("M12 5v14M6 13l6 6l6-6");
export const IconArrowUp = icon("M12 19V5M6 11l6-6l6 6");
export const IconBook = icon("M5 4h12a2 2 0 0 1 2 2v14H7a2 2 0 0 1-2-2zM5 18a2 2 0 0 1 2-2h12M9 8h6");
export const IconBroadcast = icon(
  "M12 11a1 1 0 1 0 0 2a1 1 0 0 0 0-2zM8.5 15.5a5 5 0 0 1 0-7M15.5 8.5a5 5 0 0 1 0 7M5.6 18.4a9 9 0 0 1 0-12.8M18.4 5.6a9 9 0 0 1 0 12.8",
);
export const IconCheck = icon("M5 12.5l4.5 4.5L19 7.5");
export const IconCopy = icon(
  "M9 7h9a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2H9a2 2 0 0 1-2-2V9a2 2 0 0 1 2-2zM4 15.5V6a2 2 0 0 1 2-2h9.5",
);
export const IconCross = icon("M6 6l12 12M18 6L6 18");
export const IconDots = icon("M5 12h.01M12 12h.01M19 12h.01M5.1 12h.01M12.1 12h.01M19.1 12h.01");
export const IconEye = icon(
  "M2.5 12C5 8 8 6 12 6s7 2 9.5 6c-2.5 4-5.5 6-9.5 6S5 16 2.5 12zM12 9.5a2.5 2.5 0 1 0 0 5a2.5 2.5 0 0 0 0-5z",
);
export const IconEyeOff = icon(
  "M4 4l16 16M9.5 6.3A9.5 9.5 0 0 1 12 6c4 0 7 2 9.5 6a16 16 0 0 1-2.7 3.3M6.5 8A14 14 0 0 0 2.5 12c2.5 4 5.5 6 9.5 6a9.5 9.5 0 0 0 4-.9",
);
export const IconFlag = icon("M6 21V4.5h12.5L16 9l2.5 4.5H6");
export const IconFlask = icon("M9 3h6M10 3v6.5L4.8 18a2 2 0 0 0 1.7 3h11a2 2 0 0 0 1.7-3L14 9.5V3M7.5 14.5h9");
export const IconFunnelOff = icon("M4 4l16 16M9 5h11l-5.5 6.5M10 11L5.5 5.8M10 11v8l4-2v-3");
export const IconGrid = icon(
  "M4 5a1 1 0 0 1 1-1h4v6H4zM15 4h4a1 1 0 0 1 1 1v5h-5zM4 14h5v6H5a1 1 0 0 1-1-1zM15 14h5v5a1 1 0 0 1-1 1h-4z",
);
export const IconGroup = icon(
  "M9 11a3.5 3.5 0 1 0 0-7a3.5 3.5 0 0 0 0 7zM2.5 20a6.5 6.5 0 0 1 13 0M16 4.3a3.5 3.5 0 0 1 0 6.4M18 14.3a6.5 6.5 0 0 1 3.5 5.7",
);
export const IconHistory = icon("M4 12a8 8 0 1 1 2.5 5.8M4 12l-1.5-2M4 12l2-1.7M12 8v4.5l3 1.5");
export const IconLayers = icon("M12 4l8.5 4.5L12 13L3.5 8.5zM3.5 12.5L12 17l8.5-4.5M3.5 16.5L12 21l8.5-4.5");
export const IconLock = icon("M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3");
export const IconMenu = icon("M4 7h16M4 12h16M4 17h16");
export const IconLogout = icon(
  "M14 8V6a2 2 0 0 0-2-2H6a2 2 0 0 0-2 2v12a2 2 0 0 0 2 2h6a2 2 0 0 0 2-2v-2M9 12h12M18 9l3 3l-3 3",
);
export const IconMail = icon(
  "M4 6h16a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V7a1 1 0 0 1 1-1zM3.5 7l8.5 6l8.5-6",
);
export const IconMinus = icon("M6 12h12");
export const IconMoon = icon("M12 3.5a7.2 7.2 0 0 0 8.5 8.9A8.7 8.7 0 1 1 12 3.5z");
export const IconPencil = icon("M4 20h4L19 9a2.1 2.1 0 0 0-4-4L4 16zM13.5 6.5l4 4");
export const IconPlus = icon("M12 5v14M5 12h14");
export const IconPower = icon("M12 3v8M7.2 6.5a7.5 7.5 0 1 0 9.6 0");
export const IconRefresh = icon("M19.5 11A7.7 7.7 0 0 0 5.3 8.5M5 5v4h4M4.5 13a7.7 7.7 0 0 0 14.2 2.5M19 19v-4h-4");
export const IconSearch = icon("M10.5 4a6.5 6.5 0 1 0 0 13a6.5 6.5 0 0 0 0-13zM20 20l-4.7-4.7");
export const IconSelector = icon("M8 9l4-4l4 4M8 15l4 4l4-4");
export const IconShield = icon("M12 3l7 2.5V11c0 4.6-2.8 8-7 10c-4.2-2-7-5.4-7-10V5.5zM9 11.5l2.2 2.2L15 10");
export const IconSwap = icon("M4 8h15M15 4l4 4l-4 4M20 16H5M9 12l-4 4l4 4");
export const IconTerminal = icon("M5 7l5 5l-5 5M12.5 18H19");
export const IconTrash = icon(
  "M4.5 7h15M10 11v6M14 11v6M6 7l1 12a2 2 0 0 0 2 2h6a2 2 0 0 0 2-2l1-12M9 7V4.5A1.5 1.5 0 0 1 10.5 3h3A1.5 1.5 0 0 1 15 4.5V7",
);
