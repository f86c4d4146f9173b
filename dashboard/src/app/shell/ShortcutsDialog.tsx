/** The keyboard shortcuts, a switch for those of a single key, and examples of what the palette understands. */

import { Modal, Title } from "@mantine/core";
import type { DialogProps } from "../../ui/useDialog";
import { shortcuts as texts } from "../../ui/shortcutsTexts";
import { SingleKeysSwitch } from "../../ui/SingleKeysSwitch";
import classes from "./ShortcutsDialog.module.css";

export function ShortcutsDialog({ opened, onClose }: DialogProps) {
  return (
    <Modal title={texts.heading} opened={opened} onClose={onClose}>
      {texts.groups.map(({ name, keys }) => (
        <section key={name} className={classes.group} aria-label={name}>
          <Title order={3} size="h6">
            {name}
          </Title>
          <dl className={classes.keys}>
            {keys.map(({ keys: pressed, does }) => (
              <div key={does}>
                <dt>{does}</dt>
                <dd>
                  {pressed.map((key) => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <div className={classes.group}>
        <SingleKeysSwitch />
      </div>
      <section className={classes.group} aria-label={texts.examplesHeading}>
        <Title order={3} size="h6">
          {texts.examplesHeading}
        </Title>
        <ul className={classes.examples}>
          {texts.examples.map((each) => (
            <li key={each}>
              <code>{each}</code>
            </li>
          ))}
        </ul>
      </section>
    </Modal>
  );
}
