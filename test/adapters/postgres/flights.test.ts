import { expect, test } from 'vitest';
import { Flights } from '../../../src/adapters/postgres/flights.ts';

test('a defect while a flight is sent rejects its calls, and the next flight is sent', async () => {
  let isBroken = true;
  const flights = new Flights<number, number>(async (calls) => {
    if (isBroken) throw new TypeError('a defect');
    for (const { item, resolve } of calls) resolve(2 * item);
  }, 1000);
  await expect(flights.add(1, 1)).rejects.toThrow('a defect');
  isBroken = false;
  expect(await flights.add(2, 1)).toBe(4);
  await flights.close();
});
