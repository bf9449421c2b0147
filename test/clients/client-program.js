/** Runs the story of the client on any runtime for servers: `client-program.js ADDRESSES`, in JSON. */

import { createAnimalStore } from '../../dist/library/client.js';
import { clientStory } from './client-story.js';

await clientStory(createAnimalStore, JSON.parse(process.argv[2]));
