// CommonJS in TypeScript, for compilers that do not know that require() loads ES modules.
async function main(): Promise<void> {
  const { createAnimalStore } = await import('animal-store');
  const store = await createAnimalStore({ database: 'memory:' });
  const rex = await store.createPet({ name: 'Rex', categoryId: 7n });
  if (rex.id === 1n) console.log('done');
  await store.close();
}

void main();
