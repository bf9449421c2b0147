/** Whether the tests also run what others show on another storage or carrier: `TEST_EXTENT=all`, at night. */
export const IS_WHOLE: boolean = process.env['TEST_EXTENT'] === 'all';
