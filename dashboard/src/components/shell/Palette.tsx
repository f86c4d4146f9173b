/**
 * The command palette: finds flags, environments, projects and pages, looks up users, and performs actions, by typing.
 */

import { createSpotlight, Spotlight } from "@mantine/spotlight";
import "@mantine/spotlight/styles.css";
import { useEffect, useState } from "react";
import { foundActions } from "./paletteFilter";
import { keepTyped, onPaletteRequest, takeTyped } from "../../lib/paletteRequests";
import { palette } from "../../texts/palette";
import { IconSearch } from "../shared/icons";
import { useActs } from "./paletteActs";
import { type Here, usePlaces, useUserActions } from "./palettePlaces";
import { useSwitches } from "./paletteSwitches";
import classes from "./Palette.module.css";

const SHOWN_AT_ONCE = 12;

const [store, { open, toggle }] = createSpotlight();

export default function Palette(here: Here) {
  useEffect(() => {
    open(); // it is only loaded when it was requested
    return onPaletteRequest(() => {
      if (!store.getState().opened) keepTyped();
      toggle();
    });
  }, []);
  const [query, setQuery] = useState("");
  const { acts, dialogs } = useActs(here);
  const places = usePlaces(here);
  const usersMeantBy = useUserActions(here);
  const switches = useSwitches(here, query);
  const groups = switches ?? foundActions(query, [acts, ...places], SHOWN_AT_ONCE, usersMeantBy(query));
  return (
    <>
      <Spotlight.Root
        store={store}
        shortcut={null}
        query={query}
        onQueryChange={setQuery}
        scrollable
        maxHeight="60vh"
        // Otherwise the field would keep its text while the palette closes, and show it when it opens again.
        transitionProps={{ duration: 0 }}
        overlayProps={{ blur: 0, backgroundOpacity: 0.45 }}
        classNames={{ action: classes.action, actionsGroup: classes.group }}
        attributes={{ content: { "aria-label": palette.label } }}
      >
        <Spotlight.Search
          leftSection={<IconSearch size={18} />}
          placeholder={palette.placeholder}
          aria-label={palette.label}
          // The text that was typed before the field existed.
          onFocus={() => setQuery((typed) => takeTyped() || typed)}
        />
        {groups.length > 0 ? (
          <Spotlight.ActionsList>
            {groups.map(({ group, actions }) => (
              <Spotlight.ActionsGroup key={group} label={group}>
                {actions.map(({ id, ...action }) => (
                  <Spotlight.Action key={id} highlightQuery {...action} />
                ))}
              </Spotlight.ActionsGroup>
            ))}
          </Spotlight.ActionsList>
        ) : (
          <Spotlight.Empty>{palette.nothing}</Spotlight.Empty>
        )}
        {/* Scrolls after the list has laid out its items. */}
        <FirstSelected of={groups.flatMap(({ actions }) => actions.map(({ id }) => id)).join(" ")} />
      </Spotlight.Root>
      {dialogs}
    </>
  );
}

/** Selects the first result whenever the results change, including results that arrive later. */
function FirstSelected({ of }: { of: string }) {
  useEffect(() => {
    const list = document.getElementById(store.getState().listId);
    for (const each of list?.querySelectorAll("[data-selected]") ?? []) each.removeAttribute("data-selected");
    list?.querySelector("[data-action]")?.setAttribute("data-selected", "true");
    store.updateState((state) => ({ ...state, selected: 0 }));
  }, [of]);
  return null;
}
