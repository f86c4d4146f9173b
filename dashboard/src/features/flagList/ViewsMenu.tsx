/** The saved views: choose one, save the present filter as one, rename and delete it. */

import { Button, Menu } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { permissionsQuery } from "../../api/members";
import { type View, viewsQuery } from "../views/viewsCalls";
import type { FlagsSearch } from "../../ui/search";
import { useDialog } from "../../ui/useDialog";
import { useHere } from "../../ui/useHere";
import { currentView, isSameSearch, maySaveViews } from "./views";
import { flagList } from "../views/flagListTexts";
import { views as texts } from "./viewsTexts";
import { Given } from "../../ui/Given";
import { IconCheck, IconSelector } from "../../ui/icons";
import { lateDialog } from "../../ui/lateDialog";
import { MenuFocus } from "../../ui/MenuFocus";
import { SubscribeButton } from "../notifications/SubscribeButton";
import classes from "./ViewsMenu.module.css";

const ViewDialog = lateDialog(() => import("./ViewDialogs").then((module) => module.ViewDialog));
const DeleteViewDialog = lateDialog(() => import("./ViewDialogs").then((module) => module.DeleteViewDialog));

interface Props {
  readonly projectId: string;
  readonly search: FlagsSearch;
  readonly onChange: (search: FlagsSearch) => void;
}

export function ViewsMenu({ projectId, search, onChange }: Props) {
  const { environment } = useHere();
  const { data: views = [] } = useQuery(viewsQuery(projectId));
  const { data: own } = useQuery(permissionsQuery(projectId));
  const opener = useRef<HTMLButtonElement>(null);
  const [saving, renaming, deletion] = [useDialog(), useDialog(), useDialog()];
  const current = currentView(views, search);
  // A dialog returns the focus to the element that had it, so this must not be an entry of a menu that has closed.
  const from = (open: () => void) => () => {
    opener.current?.focus();
    open();
  };
  return (
    <>
      <SubscribeButton
        projectId={projectId}
        targets={[
          { kind: "environment", name: environment.name, environmentId: environment.id },
          ...(search.tag === undefined ? [] : [{ kind: "tag" as const, name: search.tag }]),
        ]}
      />
      <Menu position="bottom-start" width={280} shadow="md">
        <Menu.Target>
          <Button
            ref={opener}
            variant="default"
            className={classes.opener}
            rightSection={<IconSelector size={14} />}
            aria-label={current ? `${flagList.views}: ${current.name}` : flagList.views}
          >
            <span className={classes.name}>{current?.name ?? flagList.views}</span>
          </Button>
        </Menu.Target>
        <Menu.Dropdown className={classes.dropdown}>
          <MenuFocus />
          <Menu.Label>{views.length > 0 ? texts.heading : texts.none}</Menu.Label>
          <Menu.Item rightSection={isSameSearch(search, {}) && <IconCheck size={14} />} onClick={() => onChange({})}>
            {texts.all}
          </Menu.Item>
          {views.map((view) => (
            <Menu.Item
              key={view.id}
              className="break"
              aria-current={view.id === current?.id || undefined}
              rightSection={view.id === current?.id && <IconCheck size={14} />}
              onClick={() => onChange(view.search)}
            >
              <Given text={view.name} />
            </Menu.Item>
          ))}
          {maySaveViews(own) && (
            <>
              <Menu.Divider />
              {!current && <Menu.Item onClick={from(saving.open)}>{texts.save}</Menu.Item>}
              {current && (
                <>
                  <Menu.Item className="break" onClick={from(renaming.open)}>
                    {texts.rename(current.name)}
                  </Menu.Item>
                  <Menu.Item className="break" c="var(--mantine-color-error)" onClick={from(deletion.open)}>
                    {texts.remove(current.name)}
                  </Menu.Item>
                </>
              )}
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      <ViewDialog projectId={projectId} search={search as View["search"]} {...saving.props} />
      {current && (
        <>
          <ViewDialog projectId={projectId} search={current.search} view={current} {...renaming.props} />
          <DeleteViewDialog projectId={projectId} view={current} {...deletion.props} />
        </>
      )}
    </>
  );
}
