import { UnstyledButton } from "@mantine/core";
import { IconSearch } from "../../ui/icons";
import { isMac, requestPalette } from "../../ui/paletteRequests";
import { shellTexts } from "../../ui/shellTexts";
import classes from "./SearchButton.module.css";

export function SearchButton() {
  return (
    <UnstyledButton className={classes.button} onClick={requestPalette}>
      <IconSearch size={15} />
      <span className={classes.text}>{shellTexts.search}</span>
      <kbd className={classes.keys} aria-hidden>
        {isMac ? shellTexts.searchKeysMac : shellTexts.searchKeys}
      </kbd>
    </UnstyledButton>
  );
}
