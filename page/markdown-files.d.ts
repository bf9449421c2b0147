/** For an import of a Markdown file, the build includes the text of the file. */
declare module '*.md' {
  const text: string;
  export default text;
}
