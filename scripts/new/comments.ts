/** Wraps paragraphs of comments that the new names have made too wide. List items and tags stay as they are. */

const WIDTH = 132;

/** Matches an example (left as it is), a comment of one line, or a paragraph, whose lines begin with the same `*` or `//`. */
const PART =
  /^ *\* ```[\s\S]*?^ *\* ```$|^(?<indent> *)\/\*\* (?<line>.*) \*\/$|^(?<start> *(?:\*|\/\/) )(?![-@|#\d])(?<lines>\S.*(?:\n\k<start>(?![-@|#\d]|```)\S.*)*)/gm;

/** A space at which a line can end: outside links and code, and not before a character that begins a list item or a tag. */
const GAP = / (?![-@|#\d])(?![^{]*\})(?=(?:[^`]*`[^`]*`)*[^`]*$)/;

export function wrapComments(text: string): string {
  return text.replaceAll(PART, (part, ...rest) => {
    const { indent, line, start, lines } = rest.at(-1) as Readonly<Record<string, string | undefined>>;
    if (part.split('\n').every((each) => each.length <= WIDTH)) return part;
    if (line !== undefined) return `${indent}/**\n${wrapped(line, `${indent} * `)}\n${indent} */`;
    return lines === undefined ? part : wrapped(lines.replaceAll(`\n${start}`, ' '), start ?? '');
  });
}

/** Returns the lines of a paragraph, each of which begins with `start`. */
function wrapped(paragraph: string, start: string): string {
  const lines: string[] = [];
  for (const word of paragraph.split(GAP)) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && longer.length + start.length <= WIDTH) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.map((each) => start + each).join('\n');
}
