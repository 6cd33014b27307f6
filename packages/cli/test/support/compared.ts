import type { Compared } from '../../src/sync/compare.ts'

/** A prompt without a file and without anything else that a test does not name. */
export const comparedWith = (given: Pick<Compared, 'path' | 'state'> & Partial<Compared>): Compared => ({
  baseHash: undefined,
  localFile: undefined,
  localText: undefined,
  localHash: undefined,
  remoteText: undefined,
  remoteHash: undefined,
  documentUuid: undefined,
  livePath: undefined,
  remoteUpdatedAt: undefined,
  hasMarkers: false,
  isMerged: false,
  mergedLive: undefined,
  ...given,
})
