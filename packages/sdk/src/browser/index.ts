export { RunStream } from '../index.ts'
export { type OpenRunOptions, openRun } from './open-run.ts'
