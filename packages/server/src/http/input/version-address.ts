import { pathId } from './path-id.ts'

/** Project and version of an address; both kinds of malformed ids are unknown ids. */
export function versionAddress(params: { projectId: string; versionUuid: string }): {
  projectId: number
  versionRef: string
} {
  return { projectId: pathId(params.projectId, 'unknown-project'), versionRef: params.versionUuid }
}
