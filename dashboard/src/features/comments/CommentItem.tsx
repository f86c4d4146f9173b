/** A comment. Its author can edit and delete it; moderators can delete it as well. */

import { useState } from "react";
import { type Comment, type CommentPlace, projectOf, useDeleteComment, useEditComment } from "./commentsCalls";
import { currentSession } from "../../api/session";
import { useDialog } from "../../ui/useDialog";
import { useGuard } from "../../ui/useGuard";
import { common } from "../../ui/commonTexts";
import { comments as texts } from "./commentsTexts";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import { EditMenu } from "../../ui/EditMenu";
import { IconButton } from "../../ui/IconButton";
import { IconTrash } from "../../ui/icons";
import { When } from "../../ui/When";
import { CommentForm } from "./CommentForm";
import classes from "./Comments.module.css";
import { CommentText } from "./CommentText";
import { Given } from "../../ui/Given";

interface Props {
  readonly place: CommentPlace;
  readonly comment: Comment;
  readonly onDeleted: () => void;
}

export function CommentItem({ place, comment, onDeleted }: Props) {
  const [isEditing, setEditing] = useState(false);
  const deletion = useDialog();
  const { mutateAsync: edit } = useEditComment(place);
  const { mutateAsync: remove } = useDeleteComment(place);
  const moderation = useGuard({ needs: "comments:moderate" });
  const { email } = comment.author;
  const isOwn = email.toLowerCase() === currentSession()?.email.toLowerCase();
  const label = texts.actionsOf(email);
  const confirm = async () => {
    await remove(comment);
    onDeleted();
  };
  return (
    <li className={classes.comment}>
      <div className={classes.head}>
        <span className={classes.author}>
          <Given text={email} />
        </span>
        <span className={classes.when}>
          <When at={comment.created_at} />
          {comment.updated_at !== comment.created_at && `, ${texts.edited}`}
        </span>
        {isOwn && !isEditing && (
          <EditMenu
            needs="comments:write"
            label={label}
            onEdit={() => setEditing(true)}
            onDelete={deletion.open}
            ml="auto"
          />
        )}
        {!isOwn && moderation.reason === null && (
          <IconButton hint={common.delete} label={`${common.delete}: ${label}`} onClick={deletion.open} ml="auto">
            <IconTrash size={16} />
          </IconButton>
        )}
      </div>
      {isEditing ? (
        <CommentForm
          projectId={projectOf(place)}
          action={texts.save}
          text={comment.text}
          onSubmit={(text) => edit({ comment, text })}
          onClose={() => setEditing(false)}
        />
      ) : (
        <CommentText projectId={projectOf(place)} text={comment.text} />
      )}
      <ConfirmDialog
        title={texts.deleteHeading}
        consequence={isOwn ? texts.deleteOwn : texts.deleteOther(email)}
        onConfirm={confirm}
        {...deletion.props}
      />
    </li>
  );
}
