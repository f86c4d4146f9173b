// Runs before the first paint, so that a page in the dark scheme never flashes white.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("mantine-color-scheme-value");
  } catch {
    // Storage may be blocked. Then the page follows the system's preference.
  }
  const dark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.mantineColorScheme = dark ? "dark" : "light";
  document.documentElement.style.background = dark ? "#13171c" : "#ffffff";
})();
