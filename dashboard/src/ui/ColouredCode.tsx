import { type CodeLanguage, highlighted } from "./highlighting";
import classes from "./ColouredCode.module.css";

interface Props {
  readonly code: string;
  readonly language: CodeLanguage;
}

export default function ColouredCode({ code, language }: Props) {
  return <span className={classes.code} dangerouslySetInnerHTML={{ __html: highlighted(code, language) }} />;
}
