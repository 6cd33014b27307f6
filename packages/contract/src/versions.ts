import { initContract } from '@ts-rest/core'
import { z } from 'zod'
import {
  absent,
  ContentHash,
  DocumentPath,
  expectedHashes,
  Id,
  LIMITS,
  Name,
  nullsAbsent,
  orTap,
  ProjectParams,
  PromptText,
  type RouteMetadata,
  Timestamp,
  text,
  Uuid,
  VersionParams,
} from './common.ts'
import { withErrors } from './errors.ts'

const c = initContract()

/** A draft can be changed; a merged version was published and stays what it is. */
export const VersionStatus = z.enum(['draft', 'merged'])
export type VersionStatus = z.infer<typeof VersionStatus>

/**
 * A version of the prompts of a project (a commit, in the words of older clients).
 *
 * @example
 * { "id": 7, "uuid": "5f0c…", "title": "Friendlier tone", "status": "draft", "version": null, … }
 */
export const Version = z
  .object({
    id: Id,
    uuid: Uuid,
    projectId: Id,
    message: z.string().meta({ description: 'The name; the same as `title`.' }),
    title: z.string(),
    description: z.string().nullable().meta({ description: 'Release notes.' }),
    authorId: Id,
    authorName: z.string(),
    authorEmail: z.string(),
    userId: z.string().meta({ description: '`authorId` as text, for older clients.' }),
    status: VersionStatus,
    version: Id.nullable().meta({ description: 'The number given at publication, from 1 per project.' }),
    parentCommitUuid: Uuid.nullable().meta({ description: 'The version that was live when this one was created.' }),
    mergedAt: Timestamp.nullable(),
    deletedAt: z.null(),
    mainDocumentUuid: z.null(),
    isLive: z.boolean(),
    createdAt: Timestamp,
    updatedAt: Timestamp.meta({ description: 'Changes with any change in the version, its prompts included.' }),
  })
  .meta({ id: 'Version' })
export type Version = z.infer<typeof Version>

/**
 * The filter of the list of versions.
 *
 * @example
 * GET /projects/1/versions?status=draft
 */
export const ListVersionsQuery = z.object({ status: VersionStatus.exactOptional() })
export type ListVersionsQuery = z.input<typeof ListVersionsQuery>

/**
 * The body that creates a draft.
 *
 * @example
 * { "name": "Friendlier tone" }
 */
export const CreateVersionBody = absent({ name: Name }).meta({ id: 'CreateVersionBody' })
export type CreateVersionBody = z.input<typeof CreateVersionBody>

/**
 * The body that publishes a draft; all of it may be absent.
 *
 * @example
 * { "title": "Friendlier tone", "description": "Answers greet by name." }
 */
export const PublishVersionBody = absent({
  title: text({ max: LIMITS.nameLength }).exactOptional().meta({ description: 'Absent or empty: the title stays.' }),
  description: text({ max: LIMITS.descriptionLength }).exactOptional().meta({ description: '`""` clears the notes.' }),
  force: z.boolean().default(false).meta({ description: 'Publishes over changes that live has received meanwhile.' }),
}).meta({ id: 'PublishVersionBody' })
export type PublishVersionBody = z.input<typeof PublishVersionBody>

/** What a push does to one path. `added` and `modified` both create or replace, `unchanged` is skipped. */
export const ChangeStatus = z.enum(['added', 'modified', 'deleted', 'unchanged'])
export type ChangeStatus = z.infer<typeof ChangeStatus>

const changeShape = {
  path: DocumentPath,
  status: ChangeStatus,
  content: z.string().exactOptional().meta({ description: 'Required for `added` and `modified`; `""` is legal.' }),
  contentHash: z.string().exactOptional().meta({ description: 'Accepted and ignored.' }),
  ...expectedHashes,
}

/**
 * One change of a push.
 *
 * @example
 * { "path": "support/reply", "status": "modified", "content": "Hello {{ name }}", "baseHash": "9f86…" }
 */
export const Change = nullsAbsent(
  z.object(changeShape).superRefine((change, context) => {
    if (change.status !== 'added' && change.status !== 'modified') return
    const content = PromptText.safeParse(change.content)
    for (const issue of content.error?.issues ?? []) {
      context.addIssue({ code: 'custom', path: ['content'], message: issue.message })
    }
  }),
).meta({ id: 'Change' })
export type Change = z.input<typeof Change>

/**
 * The body of a push: all changes are applied, or none.
 *
 * @example
 * { "changes": [{ "path": "support/reply", "status": "added", "content": "Hello" }] }
 */
export const PushChangesBody = absent({
  changes: z.array(Change).max(LIMITS.changes).meta({ description: 'One entry per path; may be empty.' }),
}).meta({ id: 'PushChangesBody' })
export type PushChangesBody = z.input<typeof PushChangesBody>

/**
 * What a push did.
 *
 * @example
 * { "commitUuid": "5f0c…", "versionUuid": "5f0c…", "documentsProcessed": 2, "added": 1, "modified": 1, "deleted": 0 }
 */
export const PushResult = z
  .object({
    commitUuid: Uuid,
    versionUuid: Uuid.meta({ description: 'The same as `commitUuid`.' }),
    documentsProcessed: z.int().nonnegative(),
    added: z.int().nonnegative(),
    modified: z.int().nonnegative(),
    deleted: z.int().nonnegative(),
  })
  .meta({ id: 'PushResult' })
export type PushResult = z.infer<typeof PushResult>

/**
 * The body of a revert; without `paths` every change of the draft is dropped.
 *
 * @example
 * { "paths": ["support/reply"] }
 */
export const RevertVersionBody = absent({
  paths: z.array(DocumentPath).min(1).max(LIMITS.changes).exactOptional(),
}).meta({ id: 'RevertVersionBody' })
export type RevertVersionBody = z.input<typeof RevertVersionBody>

/**
 * What a revert did: a deletion was dropped (`restored`), an edit (`reset`), or an addition (`removed`).
 *
 * @example
 * { "versionUuid": "5f0c…", "reverted": [{ "path": "support/reply", "documentUuid": "0b7e…", "action": "reset" }] }
 */
export const RevertResult = z
  .object({
    versionUuid: Uuid,
    reverted: z.array(
      z.object({ path: z.string(), documentUuid: Uuid, action: z.enum(['restored', 'reset', 'removed']) }),
    ),
  })
  .meta({ id: 'RevertResult' })
export type RevertResult = z.infer<typeof RevertResult>

/**
 * What a version is compared with.
 *
 * @example
 * GET /projects/1/versions/5f0c…/diff?base=live
 */
export const DiffVersionsQuery = z.object({
  base: z.string().exactOptional().meta({
    description:
      'A version uuid or `live`. Default: live for a draft, the version numbered before for one that is merged.',
  }),
})
export type DiffVersionsQuery = z.input<typeof DiffVersionsQuery>

/**
 * One side of a difference.
 *
 * @example
 * { "content": "Hello", "contentHash": "185f…" }
 */
export const DiffSide = z.object({ content: z.string(), contentHash: ContentHash }).meta({ id: 'DiffSide' })
export type DiffSide = z.infer<typeof DiffSide>

/**
 * What changes between two versions, by path.
 *
 * @example
 * { "base": null, "head": "5f0c…", "changes": [{ "path": "a", "status": "added", "before": null, "after": {…}, … }] }
 */
export const VersionDiff = z
  .object({
    base: Uuid.nullable(),
    head: Uuid,
    changes: z.array(
      z.object({
        path: z.string(),
        documentUuid: Uuid,
        status: z.enum(['added', 'modified', 'deleted']),
        before: DiffSide.nullable(),
        after: DiffSide.nullable(),
        conflict: z.boolean().meta({ description: 'Publishing would be refused: live has changed here meanwhile.' }),
      }),
    ),
  })
  .meta({ id: 'VersionDiff' })
export type VersionDiff = z.infer<typeof VersionDiff>

const base = '/projects/:projectId/versions'

export const versions = c.router({
  list: {
    method: 'GET',
    path: base,
    summary: 'List versions',
    description: 'Drafts first, the newest of them leading, then merged versions by falling number.',
    pathParams: ProjectParams,
    query: ListVersionsQuery,
    responses: withErrors({ 200: z.array(Version) }),
    metadata: { scope: 'read', rateLimited: true, idempotent: false, streams: false } as const satisfies RouteMetadata,
  },
  create: {
    method: 'POST',
    path: base,
    summary: 'Create a draft',
    description: 'The draft shows what is live until it is changed.',
    pathParams: ProjectParams,
    body: CreateVersionBody,
    responses: withErrors({ 200: orTap(Version) }),
    metadata: { scope: 'write', rateLimited: true, idempotent: true, streams: false } as const satisfies RouteMetadata,
  },
  get: {
    method: 'GET',
    path: `${base}/:versionUuid`,
    summary: 'Get a version',
    description: 'By its uuid, or the published one by `live`.',
    pathParams: VersionParams,
    responses: withErrors({ 200: Version }),
    metadata: { scope: 'read', rateLimited: true, idempotent: false, streams: false } as const satisfies RouteMetadata,
  },
  publish: {
    method: 'POST',
    path: `${base}/:versionUuid/publish`,
    summary: 'Publish a draft',
    description:
      'Applies the changes of the draft to what is live, gives it the next number and makes it live, in one step. ' +
      '409 when live changed a path that the draft changes too (a push with `liveHash` resolves it, `force` overrides ' +
      'it), 422 when a prompt does not compile. Anything but a draft is 400.',
    pathParams: VersionParams,
    body: PublishVersionBody,
    responses: withErrors({ 200: orTap(Version) }),
    metadata: {
      scope: 'publish',
      rateLimited: true,
      idempotent: true,
      streams: false,
      errors: ['not-a-draft', 'live-changed', 'draft-kept-changing', 'draft-does-not-compile', 'too-many-evaluations'],
    } as const satisfies RouteMetadata,
  },
  push: {
    method: 'POST',
    path: `${base}/:versionUuid/push`,
    summary: 'Push changes to a draft',
    description:
      'All changes in one transaction, or none of them. A `baseHash` or `liveHash` that no longer holds is 409.',
    pathParams: VersionParams,
    body: PushChangesBody,
    responses: withErrors({ 200: orTap(PushResult) }),
    metadata: {
      scope: 'write',
      rateLimited: true,
      idempotent: true,
      streams: false,
      errors: ['invalid-path', 'repeated-path', 'merged-version', 'other-base', 'other-live'],
    } as const satisfies RouteMetadata,
  },
  revert: {
    method: 'POST',
    path: `${base}/:versionUuid/revert`,
    summary: 'Revert changes of a draft',
    description: 'Drops all changes of the draft, or those at `paths`; paths without a change are skipped.',
    pathParams: VersionParams,
    body: RevertVersionBody,
    responses: withErrors({ 200: orTap(RevertResult) }),
    metadata: {
      scope: 'write',
      rateLimited: true,
      idempotent: true,
      streams: false,
      errors: ['merged-version'],
    } as const satisfies RouteMetadata,
  },
  diff: {
    method: 'GET',
    path: `${base}/:versionUuid/diff`,
    summary: 'Compare two versions',
    description: 'What the version changes against its base, ordered by path.',
    pathParams: VersionParams,
    query: DiffVersionsQuery,
    responses: withErrors({ 200: VersionDiff }),
    metadata: { scope: 'read', rateLimited: true, idempotent: false, streams: false } as const satisfies RouteMetadata,
  },
})
