/** Asks for a user by id or email. */

import { Button, Checkbox, TextInput } from "@mantine/core";
import { useState } from "react";
import { meantBy, nameOf, type PersonSearch } from "./person";
import { people as texts } from "./peopleTexts";
import { IconSearch } from "../../ui/icons";
import classes from "./People.module.css";

interface Props {
  readonly person: PersonSearch;
  readonly onLookUp: (person: PersonSearch) => void;
}

export function WhoForm({ person, onLookUp }: Props) {
  const [typed, setTyped] = useState(nameOf(person));
  const [isId, setIsId] = useState(person.id !== undefined);
  const meant = meantBy(typed);
  const canBeEmail = meant.length > 1;
  const submit = () => {
    const wanted = canBeEmail && isId ? meant.at(-1) : meant[0];
    if (wanted) onLookUp(wanted);
  };
  return (
    <search>
      <form
        className={classes.who}
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <TextInput
          className={classes.name}
          label={texts.who}
          value={typed}
          maxLength={1024}
          autoComplete="off"
          spellCheck={false}
          leftSection={<IconSearch size={16} />}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        {canBeEmail && (
          <Checkbox
            label={texts.byId}
            checked={isId}
            mb={8}
            onChange={(event) => setIsId(event.currentTarget.checked)}
          />
        )}
        <Button type="submit" variant="default">
          {texts.lookUp}
        </Button>
      </form>
    </search>
  );
}
