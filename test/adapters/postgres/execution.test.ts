import fc from 'fast-check';
import { Client, type Connection } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { clientConfig } from '../../../src/adapters/postgres/config.ts';
import { Execution, type KnownColumns } from '../../../src/adapters/postgres/execution.ts';
import type { Row, Statement } from '../../../src/adapters/postgres/statement.ts';
import { canRunPostgres, newDatabaseUrl, postgresNote } from '../../support/postgres/index.ts';
import { runs } from '../../support/property-runs.ts';

interface Session {
  run(statement: Statement): Promise<readonly Row[]>;
  /** How often the server has described the columns of a result. */
  descriptions(): number;
}

async function open(): Promise<Session> {
  const client = new Client({ ...clientConfig(await newDatabaseUrl()), pipeline: true });
  client.on('error', () => {});
  await client.connect();
  onTestFinished(() => client.end());
  let descriptions = 0;
  const { connection } = client as unknown as { connection: Connection };
  connection.on('rowDescription', () => {
    descriptions += 1;
  });
  const known: KnownColumns = new Map();
  return {
    run: (statement) =>
      new Promise((resolve, reject) => {
        const settle = (error: unknown, rows: readonly Row[] = []) => {
          if (error) reject(error);
          else resolve(rows);
        };
        client.query(new Execution(client, statement, known, settle));
      }),
    descriptions: () => descriptions,
  };
}

function statement(text: string, ...values: unknown[]): Statement {
  return { name: text, text, values };
}

describe.skipIf(!canRunPostgres)(`executions on PostgreSQL${postgresNote}`, () => {
  test('a statement is described once for each connection', async () => {
    const { run, descriptions } = await open();
    for (const value of [1n, -(2n ** 63n), 2n ** 63n - 1n]) {
      expect(await run(statement("SELECT $1::bigint, 'x', null::text", value))).toEqual([[value, 'x', null]]);
    }
    expect(descriptions()).toBe(1);
    expect(await run(statement('SELECT true'))).toEqual([[true]]);
    expect(descriptions()).toBe(2);
  });

  test('executions that are sent together get their own rows', async () => {
    const { run } = await open();
    const values = Array.from({ length: 20 }, (_, index) => BigInt(index));
    const rows = await Promise.all(values.map((value) => run(statement('SELECT $1::bigint', value))));
    expect(rows).toEqual(values.map((value) => [[value]]));
  });

  test('a statement without columns has no rows', async () => {
    const { run } = await open();
    for (let count = 0; count < 2; count++)
      expect(await run(statement("SET application_name = 'x'"))).toEqual([]);
  });

  test('a failed execution ends alone: while it is parsed, its values are read, or it runs', async () => {
    const { run } = await open();
    const divide = (divisor: number) => run(statement('SELECT 8 / $1::int', divisor));
    const results = await Promise.allSettled([
      run(statement('SELECT nothing')),
      divide(2),
      run(statement('SELECT $1::bigint', 'x')),
      divide(0),
      divide(4),
    ]);
    expect(results).toMatchObject([
      { reason: { code: '42703' } },
      { value: [[4]] },
      { reason: { code: '22P02' } },
      { reason: { code: '22012' } },
      { value: [[2]] },
    ]);
    await expect(run(statement('SELECT nothing'))).rejects.toMatchObject({ code: '42703' });
    expect(await divide(8)).toEqual([[1]]);
  });

  test('after a change of the columns the server refuses the statement', async () => {
    const { run } = await open();
    await run(statement('CREATE TEMPORARY TABLE things (a int)'));
    await run(statement('INSERT INTO things VALUES (7)'));
    expect(await run(statement('SELECT * FROM things'))).toEqual([[7]]);
    await run(statement('ALTER TABLE things ALTER a TYPE text'));
    await expect(run(statement('SELECT * FROM things'))).rejects.toThrow(
      'cached plan must not change result type',
    );
  });

  test('texts in arrays, and bytes, arrive as they were sent', async () => {
    const { run } = await open();
    const text = fc.string({
      unit: fc.oneof(fc.constantFrom('"', '\\', '{', '}', ',', ' ', 'NULL', "'"), fc.string()),
    });
    const texts = fc.array(text.map((value) => value.replaceAll('\0', '').toWellFormed()));
    await fc.assert(
      fc.asyncProperty(texts, fc.uint8Array(), async (values, bytes) => {
        const sent = Buffer.from(bytes);
        const rows = await run(
          statement('SELECT $1::text[], $2::bytea, $3::text', values, sent, values[0] ?? null),
        );
        expect(rows).toEqual([[values, sent, values[0] ?? null]]);
      }),
      runs(50),
    );
  });
});
