import { expect, test } from 'vitest';
import type { Commit } from '../../../src/application/ports/observer.ts';
import type { NewPet } from '../../../src/domain/pet.ts';
import { newPetJson } from '../../../src/domain/pet-json.ts';
import { samplePet } from '../../../src/testing/fixtures/pets.ts';
import { connect, describePostgres, newDatabaseUrl } from '../../support/postgres/index.ts';
import { attemptWith, hasAttributes, MAX, openStorage, openStore, REX, walk } from './database.ts';

describePostgres('creates on PostgreSQL', () => {
  test('a pet that the database refuses fails alone, with and without an idempotency key, and costs few commits', async () => {
    const url = await newDatabaseUrl();
    const commits: Commit[] = [];
    const storage = await openStorage(url, { observer: { onCommit: (commit) => commits.push(commit) } });
    const other = await connect(url);
    const refused: readonly [NewPet, NewPet] = [MAX, samplePet('bad', 5)];
    await other.query(`ALTER TABLE pets ADD CHECK (NOT (${hasAttributes(refused[0])}));
      CREATE FUNCTION refuse_pet() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'bad'; END $$;
      CREATE TRIGGER refusing BEFORE INSERT ON pets FOR EACH ROW WHEN (${hasAttributes(refused[1], 'NEW')})
        EXECUTE FUNCTION refuse_pet()`);
    const given = Array.from({ length: 300 }, (_, index) =>
      index % 75 === 7 ? refused[index < 150 ? 0 : 1] : samplePet(`good ${index}`, index + 7),
    );
    const results = await Promise.allSettled(
      given.map((pet, index) =>
        index % 2 === 0
          ? storage.pets.add(pet)
          : storage.idempotentCreates.add(pet, attemptWith(`${index}`)).then(({ pet: added }) => added),
      ),
    );
    for (const [index, result] of results.entries()) {
      const pet = given[index] as NewPet;
      if (refused.includes(pet)) expect(result).toMatchObject({ reason: { code: 'internal_error' } });
      else expect(result).toMatchObject({ value: pet });
    }
    const good = given.filter((pet) => !refused.includes(pet));
    expect((await walk(storage)).map(newPetJson).toSorted()).toEqual(good.map(newPetJson).toSorted());
    expect(await storage.idempotencyRecords.count()).toBe(148);
    expect(commits.reduce((sum, { writes }) => sum + writes, 0)).toBe(296);
    expect(commits.length).toBeLessThan(60);
    await storage.check();
  });

  test.each(['PT409', '54000', '42501', '42704', '55000', '57014'])(
    'a pet that a trigger refuses with the error code %s fails alone',
    async (code) => {
      const { url, storage } = await openStore();
      await (await connect(url)).query(`CREATE FUNCTION refuse_pet() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'bad' USING ERRCODE = '${code}'; END $$;
        CREATE TRIGGER refusing BEFORE INSERT OR UPDATE ON pets FOR EACH ROW WHEN (${hasAttributes(MAX, 'NEW')})
        EXECUTE FUNCTION refuse_pet()`);
      const results = await Promise.allSettled([REX, MAX, REX].map((pet) => storage.pets.add(pet)));
      const statuses = results.map(({ status }) => status);
      expect(statuses).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    },
  );

  test('beyond 10,000 creates that wait, further ones are refused at once, and the others are stored', async () => {
    const { storage } = await openStore();
    const adding = Array.from({ length: 10_001 }, () => storage.pets.add(REX));
    await expect(adding.pop()).rejects.toMatchObject({ code: 'overloaded' });
    const ids = Array.from({ length: 10_000 }, (_, index) => BigInt(index + 1));
    expect((await Promise.all(adding)).map(({ id }) => id)).toEqual(ids);
  });

  test('no pet is confirmed that a trigger of the operator has dropped', async () => {
    const { url, storage } = await openStore();
    await (await connect(url)).query(`CREATE FUNCTION drop_pet() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF ${hasAttributes(MAX, 'NEW')} THEN RETURN NULL; END IF; RETURN NEW; END $$;
      CREATE TRIGGER dropping BEFORE INSERT ON pets FOR EACH ROW EXECUTE FUNCTION drop_pet()`);
    const given = [REX, MAX, REX];
    const plain = given.map((pet) => storage.pets.add(pet));
    const keyed = given.map((pet, index) => storage.idempotentCreates.add(pet, attemptWith(`${index}`)));
    const results = [...(await Promise.allSettled(plain)), ...(await Promise.allSettled(keyed))];
    const statuses = results.map(({ status }) => status);
    // The ids of a statement do not tell which of its pets was dropped.
    expect(statuses).toEqual([...Array(3).fill('rejected'), 'fulfilled', 'rejected', 'fulfilled']);
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'internal_error' });
  });

  test('after a serialization failure the statement is repeated, and after other failures it is not', async () => {
    const { url, storage } = await openStore();
    const other = await connect(url);
    const fail = (code: string, times: number) =>
      other.query(`ALTER SEQUENCE failures RESTART; CREATE OR REPLACE FUNCTION check_pet() RETURNS boolean LANGUAGE plpgsql AS $$
        BEGIN IF nextval('failures') <= ${times} THEN RAISE EXCEPTION 'refused' USING ERRCODE = '${code}'; END IF;
        RETURN true; END $$`);
    await other.query('CREATE SEQUENCE failures');
    await fail('40001', 3);
    await other.query('ALTER TABLE pets ADD CHECK (check_pet()) NOT VALID');
    expect(await storage.pets.add(REX)).toMatchObject(REX);
    await fail('40P01', 1);
    await expect(storage.idempotentCreates.add(REX, attemptWith('key'))).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: expect.not.stringContaining('unknown'),
    });
    expect(await walk(storage)).toHaveLength(1);
    await storage.check();
  });
});
