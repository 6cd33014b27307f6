import { z } from 'zod'
import { absent, Id, moveOptions, orRaw, Person, ProjectParams, Timestamp, Uuid } from '../common.ts'
import { withErrors } from '../errors.ts'
import { pageSize } from '../query-values.ts'
import { GateVerdict } from './gates.ts'
import { LiveConflict } from './merges.ts'

export const ReleaseCheck = z.enum(['configuration']).meta({
  description: '`configuration` refuses settings that a run would refuse: the errors in `issues` of the prompts.',
})

const CheckWithFindings = z.enum(['conflict', 'compile', ...ReleaseCheck.options])
const CheckName = z.enum([...CheckWithFindings.options, 'gate'])

export const ReleaseFinding = z
  .object({
    check: CheckWithFindings,
    code: z.string(),
    level: z.literal('break'),
    path: z.string(),
    in: z.string().exactOptional().meta({
      description: 'The referenced prompt with the compile error; absent for the prompt itself.',
    }),
    line: z.int(),
    column: z.int(),
    message: z.string(),
  })
  .meta({ id: 'ReleaseFinding', description: 'A finding of a check of a release.' })

export const ReleaseChecks = z
  .object({
    base: Uuid.nullable().meta({ description: 'The live version. Null before the first publication.' }),
    wouldNumber: Id.meta({ description: 'The number that the draft would get.' }),
    conflicts: z
      .array(LiveConflict.omit({ merged: true, regions: true, baseUnknown: true, skipped: true }))
      .meta({ description: 'The prompts that the draft and live have changed.' }),
    checks: z.array(
      z.object({
        name: CheckName,
        state: z.enum(['pass', 'blocked', 'noted']).meta({
          description: '`noted`: there are findings, but `block` does not name the check, or the gates only warn.',
        }),
        findings: z.array(ReleaseFinding).meta({
          description: 'Empty for `conflict` and `gate`: see `conflicts` and `gates`.',
        }),
      }),
    ),
    gates: z
      .array(GateVerdict)
      .meta({ description: 'A verdict for each prompt that the draft changes and each gate that applies to it.' }),
    verdict: z.enum(['pass', 'blocked']).meta({ description: '`blocked`: publishing would be refused.' }),
  })
  .meta({
    id: 'ReleaseChecks',
    description: 'The result of checking the publication of a draft.',
    example: "const canPublish = checks.verdict === 'pass'",
  })

export const ReleaseKind = z.enum(['publish', 'rollback', 'edit']).meta({
  description: '`edit`: a forced edit changed the version that live serves.',
})

export const ReleasedVersion = z
  .object({
    uuid: Uuid,
    number: Id,
    revision: z.int().nonnegative().meta({ description: '0 as published, and one more for each forced edit.' }),
    title: z.string(),
  })
  .meta({ id: 'ReleasedVersion', description: 'A version at the revision that was served.' })

const seq = Id.meta({ description: 'The number of the release. Each environment starts at 1.' })

export const Release = z
  .object({
    uuid: Uuid,
    environment: z.string(),
    seq,
    kind: ReleaseKind,
    version: ReleasedVersion,
    from: ReleasedVersion.nullable().meta({ description: 'The version that the environment served before.' }),
    returnsTo: Id.nullable().meta({ description: 'The `seq` of the release to which a rollback returns.' }),
    author: Person,
    reason: z.string().nullable(),
    overrides: z
      .array(
        GateVerdict.pick({ path: true, verdict: true, code: true, message: true, experimentUuid: true }).extend({
          check: z.literal('gate'),
        }),
      )
      .meta({ description: 'The verdicts that would have refused the publication without `override`.' }),
    createdAt: Timestamp,
  })
  .meta({
    id: 'Release',
    description: 'An entry of the history of an environment: what it serves from then on. Releases never change.',
    example:
      "const { items } = await stet.environments.releases('live')\nconst rollbacks = items.filter(({ kind }) => kind === 'rollback')",
  })

export const Environment = z
  .object({
    name: z.string(),
    version: ReleasedVersion.nullable().meta({ description: 'The served version. Null before the first publication.' }),
    seq: z.int().nonnegative().meta({ description: 'The number of the newest release; 0 if there is none.' }),
    rollback: z
      .object({ seq, version: ReleasedVersion })
      .nullable()
      .meta({ description: 'The release to which a rollback without `to` returns. Null if there is none.' }),
  })
  .meta({ id: 'Environment', description: 'A name under which applications read one of the versions, such as `live`.' })

export const ReleasePage = z
  .object({
    items: z.array(Release),
    nextCursor: z.string().nullable().meta({ description: 'Null on the last page.' }),
  })
  .meta({ id: 'ReleasePage', description: 'A page of releases, newest first.' })

export const ListReleasesQuery = z
  .object({
    limit: pageSize.exactOptional().meta({ description: 'Default: 25.' }),
    cursor: z
      .string()
      .regex(/^[1-9]\d{0,8}$/, { error: 'is not a cursor of this list' })
      .exactOptional()
      .meta({ description: 'The `nextCursor` of the previous page.' }),
  })
  .meta({ id: 'ListReleasesQuery' })

export const RollbackBody = absent({
  to: z
    .union([Id, z.string()])
    .exactOptional()
    .meta({
      description:
        'The `seq` of a release, or a version that the environment has served: `<uuid>` as it was served last, or ' +
        '`<uuid>@<revision>`. Default: the release that `returnsTo` of the newest release names.',
    }),
  ...moveOptions,
}).meta({ id: 'RollbackBody', example: "{ to: 12, reason: 'Too many complaints' }" })

export const RollbackResult = z
  .object({
    environment: Environment,
    release: Release.nullable().meta({ description: 'Null if the environment already served the target.' }),
  })
  .meta({ id: 'RollbackResult' })

const EnvironmentParams = ProjectParams.extend({
  environment: z.string().meta({ description: 'The name of the environment: `live`.' }),
})

export const environmentRoutes = {
  releases: {
    summary: 'List the releases of an environment',
    description: 'Newest first. Publications, rollbacks, and forced edits of the version that it serves.',
    pathParams: EnvironmentParams,
    query: ListReleasesQuery,
    responses: withErrors({ 200: ReleasePage }),
  },
  rollback: {
    summary: 'Roll back an environment',
    description:
      'Serves exactly the texts of an earlier release again. If its version was edited by force since, the texts ' +
      'become a new version. Nothing is compiled or checked. Rolling back again goes further back.',
    pathParams: EnvironmentParams,
    body: RollbackBody,
    responses: withErrors({ 200: orRaw(RollbackResult) }),
  },
}
