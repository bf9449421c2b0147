/** The build includes the text of a Markdown file. */
declare module '*.md' {
  const text: string;
  export default text;
}
