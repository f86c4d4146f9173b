/**
 * The command palette: finds flags, environments, projects and pages, looks up users, and performs actions, by typing.
 */

import { createSpotlight, Spotlight } from "@mantine/spotlight";
import "@mantine/spotlight/styles.css";
import { useEffect, useRef, useState } from "react";
import { foundActions } from "./paletteFilter";
import { keepTyped, onPaletteRequest, takeTyped } from "../../ui/paletteRequests";
import { palette } from "./paletteTexts";
import { IconSearch } from "../../ui/icons";
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
  const { switches, dialog } = useSwitches(here, query);
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
        <Selection query={query} of={groups.flatMap(({ actions }) => actions.map(({ id }) => id)).join(" ")} />
      </Spotlight.Root>
      {dialogs}
      {dialog}
    </>
  );
}

/**
 * Selects the first result of another query. When others change the results of the same query, the selected one stays
 * selected, and nothing takes its place if it is gone.
 */
function Selection({ query, of }: { query: string; of: string }) {
  const last = useRef<string | null>(null);
  useEffect(() => {
    const list = [...(document.getElementById(store.getState().listId)?.querySelectorAll("[data-action]") ?? [])];
    if (list.length === 0) return;
    const isKept = last.current === query;
    const selected = isKept ? list.findIndex((each) => each.matches("[data-selected]")) : 0;
    for (const each of list) each.removeAttribute("data-selected");
    list[selected]?.setAttribute("data-selected", "true");
    store.updateState((state) => ({ ...state, selected }));
    last.current = query;
  }, [query, of]);
  return null;
}
