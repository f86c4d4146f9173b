/** The icons of charts. Most pages have none, so they are not among the shared icons. */

const PATHS = {
  zoomIn: "M10.5 4a6.5 6.5 0 1 0 0 13a6.5 6.5 0 0 0 0-13zM15.3 15.3L20 20M10.5 7.8v5.4M7.8 10.5h5.4",
  zoomOut: "M10.5 4a6.5 6.5 0 1 0 0 13a6.5 6.5 0 0 0 0-13zM15.3 15.3L20 20M7.8 10.5h5.4",
  earlier: "M14.5 6l-6 6l6 6",
  later: "M9.5 6l6 6l-6 6",
  pin: "M9 4h6l-1 6l3 3H7l3-3zM12 13v7",
} as const;

export function ChartIcon({ name, size = 18 }: { name: keyof typeof PATHS; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.8}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
