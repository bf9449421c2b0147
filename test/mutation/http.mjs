import { configOf } from './areas.mjs';

export default configOf('http');
