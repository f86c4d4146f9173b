/** The text of a comment. Nothing in it is markup. */

import { Anchor, Code } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { membersQuery } from "../../api/members";
import { textParts } from "./commentText";
import classes from "./Comments.module.css";
import { visibleProse } from "../../ui/givenText";

export function CommentText({ projectId, text }: { projectId: string; text: string }) {
  const { data: members = [] } = useQuery(membersQuery(projectId));
  const parts = textParts(text, new Set(members.map(({ email }) => email.toLowerCase())));
  return (
    <p dir="auto" className={classes.text}>
      {parts.map((part, place) => {
        const key = `${place} ${part.text}`;
        if (part.kind === "code") return <Code key={key}>{visibleProse(part.text)}</Code>;
        if (part.kind === "mention")
          return (
            <span key={key} className={classes.mention}>
              {visibleProse(part.text)}
            </span>
          );
        if (part.kind === "link")
          return (
            <Anchor key={key} href={part.text} target="_blank" rel="noopener noreferrer nofollow" underline="always">
              {part.text}
            </Anchor>
          );
        return visibleProse(part.text);
      })}
    </p>
  );
}
