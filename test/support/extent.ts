/** Whether the tests also run what others show on another storage or carrier: `TEST_EXTENT=all`, at night. */
export const IS_WHOLE: boolean = process.env['TEST_EXTENT'] === 'all';

/** Whether only short tests run: `TEST_EXTENT=short`. A mutant that survives runs all tests of its area. */
export const IS_SHORT: boolean = process.env['TEST_EXTENT'] === 'short';

/** Whether pets have an attribute of each kind, as in the project `entity`. */
export const HAS_EACH_KIND: boolean = process.env['TEST_ATTRIBUTES'] === 'each kind';
