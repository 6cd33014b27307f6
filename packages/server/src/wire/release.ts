import type {
  Environment as EnvironmentBody,
  Release as ReleaseBody,
  ReleasedVersion as ReleasedBody,
  RollbackResult,
} from '@stet/contract/vocabulary'
import type { Release, ReleasedVersion } from '../features/projects/release.ts'
import type { RolledBack } from '../features/releases/roll-back.ts'
import { personBody } from './api-key.ts'

export function releaseBody(release: Release): ReleaseBody {
  return {
    uuid: release.uuid,
    environment: 'live',
    seq: release.seq,
    kind: release.kind,
    version: releasedBody(release.version),
    from: release.from && releasedBody(release.from),
    returnsTo: release.returnsTo,
    author: personBody(release.author),
    reason: release.reason,
    createdAt: release.createdAt.toISOString(),
  }
}

export function rollbackBody({ release, ...rest }: RolledBack): RollbackResult {
  return { environment: environmentBody(rest), release: release && releaseBody(release) }
}

function environmentBody({ latest, next }: Omit<RolledBack, 'release'>): EnvironmentBody {
  return {
    name: 'live',
    version: releasedBody(latest.version),
    seq: latest.seq,
    rollback: next && { seq: next.seq, version: releasedBody(next.version) },
  }
}

function releasedBody({ uuid, number, revision, title }: ReleasedVersion): ReleasedBody {
  return { uuid, number, revision, title }
}
