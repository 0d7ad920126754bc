// Colours of SQL: keywords of any question, and the functions and methods that this server knows.

import { SQLDialect } from "@codemirror/lang-sql";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { tags } from "@lezer/highlight";

/** What a question may be written with; offered while one types. */
export const KEYWORDS = `select distinct from where group by having order limit offset as and or not in between like
  ilike is null true false case when then else end join left inner cross full on using with union all over partition
  filter exists asc desc nulls first last cast extract interval rollup cube grouping sets within explain show tables
  methods describe`.split(/\s+/);

const TYPES = "integer bigint double boolean varchar text date timestamp decimal";
const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--sql-key)", fontWeight: "600" },
  { tag: [tags.bool, tags.null, tags.typeName], color: "var(--sql-key)" },
  { tag: tags.standard(tags.name), color: "var(--sql-fn)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--sql-str)" },
  { tag: tags.number, color: "var(--sql-num)" },
  { tag: tags.comment, color: "var(--soft)" },
]);

/** The language and its colours. */
export function highlightWords({ functions, methods }) {
  const known = [...functions, ...methods].map((each) => each.name.toLowerCase());
  const builtin = known.filter((name) => !KEYWORDS.includes(name)).join(" ");
  const dialect = SQLDialect.define({ keywords: KEYWORDS.join(" "), types: TYPES, builtin });
  return [dialect, syntaxHighlighting(colours)];
}
