import { common } from "./commonTexts";

export function Logo({ size = 22 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" role="img" aria-label={common.product}>
      <rect width="32" height="32" rx="7" fill="var(--mantine-color-signal-7)" />
      <path d="M10 6.5v19" stroke="#fff" strokeWidth="2.6" strokeLinecap="round" />
      <path d="M10 8h13.2l-3.6 4.6 3.6 4.6H10z" fill="#fff" />
    </svg>
  );
}
