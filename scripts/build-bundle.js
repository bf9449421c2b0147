import { rolldown } from 'rolldown';

/** Bundles a module and all modules that it imports into one minified module for browsers. */
export async function bundle(input, banner = '') {
  const build = await rolldown({ input, platform: 'browser', moduleTypes: { '.md': 'text' } });
  const { output } = await build.generate({
    format: 'es',
    codeSplitting: false,
    minify: true,
    postBanner: banner,
  });
  await build.close();
  return output[0].code;
}
