import { UnstyledButton } from "@mantine/core";
import { IconSearch } from "../../ui/icons";
import { isMac, requestPalette } from "../../ui/paletteRequests";
import { t } from "../../texts";
import classes from "./SearchButton.module.css";

export function SearchButton() {
  return (
    <UnstyledButton className={classes.button} onClick={requestPalette}>
      <IconSearch size={15} />
      <span className={classes.text}>{t.shell.search}</span>
      <kbd className={classes.keys} aria-hidden>
        {isMac ? t.shell.searchKeysMac : t.shell.searchKeys}
      </kbd>
    </UnstyledButton>
  );
}
