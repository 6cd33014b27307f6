import { initContract } from '@ts-rest/core'
import { z } from 'zod'
import {
  absent,
  ContentHash,
  DocumentParams,
  DocumentPath,
  expectedHashes,
  Id,
  JsonObject,
  orTap,
  PromptText,
  type RouteMetadata,
  Timestamp,
  Uuid,
  VersionParams,
} from './common.ts'
import { withErrors } from './errors.ts'
import { ProviderKind } from './provider-api-keys.ts'

const c = initContract()

/**
 * One reason why a prompt does not compile. Lines and columns count from 1.
 *
 * @example
 * { "code": "unexpected-eof", "message": "Unexpected end of file", "line": 3, "column": 1, "frame": "…" }
 */
export const CompileIssue = z
  .object({
    code: z.string(),
    message: z.string(),
    line: z.int(),
    column: z.int(),
    frame: z.string().meta({ description: 'The lines around the fault, with a mark below it.' }),
  })
  .meta({ id: 'CompileIssue' })
export type CompileIssue = z.infer<typeof CompileIssue>

/**
 * A parameter of a prompt, with the keys of its declaration. Declared numbers, booleans, objects and arrays are
 * `text` here, because strict clients know no other types, and keep their type in `config.parameters`.
 *
 * @example
 * { "type": "text", "required": true, "description": "The customer's name" }
 */
export const DocumentParameter = z
  .looseObject({ type: z.enum(['text', 'image', 'file']), required: z.boolean().exactOptional() })
  .meta({ id: 'DocumentParameter' })
export type DocumentParameter = z.infer<typeof DocumentParameter>

/**
 * A prompt as one version shows it.
 *
 * @example
 * { "path": "support/reply", "content": "---\nmodel: gpt-4o\n---\nHello {{ name }}", "config": { "model": "gpt-4o" }, … }
 */
export const Document = z
  .object({
    id: Id.meta({ description: 'The row of this prompt in the version that last changed it.' }),
    documentUuid: Uuid.meta({ description: 'Stable over versions.' }),
    uuid: Uuid.meta({ description: 'The same as `documentUuid`.' }),
    path: z.string(),
    content: z.string().meta({ description: 'The prompt, exactly as it was stored.' }),
    resolvedContent: z.string().meta({ description: 'Without comments, references inlined.' }),
    contentHash: ContentHash.meta({ description: 'SHA-256 of `content`; the first 64 digits of the ETag.' }),
    commitId: Id.meta({ description: 'The version that holds the text.' }),
    versionUuid: Uuid.meta({ description: 'The version that was asked for, as a uuid also for `live`.' }),
    projectId: Id,
    config: JsonObject.meta({ description: 'The parsed front matter; `{}` when there is none or it is invalid.' }),
    parameters: z.record(z.string(), DocumentParameter).meta({
      description: 'The declared parameters and every free variable, those of references included.',
    }),
    provider: ProviderKind.exactOptional().meta({ description: 'Absent when no configured provider matches.' }),
    errors: z.array(CompileIssue).max(20).meta({ description: 'What keeps the prompt from compiling.' }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    mergedAt: Timestamp.nullable(),
    deletedAt: Timestamp.nullable(),
  })
  .meta({ id: 'Document' })
export type Document = z.infer<typeof Document>

/**
 * The filter of the list of prompts.
 *
 * @example
 * GET /projects/1/versions/live/documents?prefix=support/
 */
export const ListDocumentsQuery = z.object({
  prefix: z.string().exactOptional().meta({ description: 'The leading part of the path.' }),
})
export type ListDocumentsQuery = z.input<typeof ListDocumentsQuery>

/**
 * The body that creates a prompt, or gets the one that is there.
 *
 * @example
 * { "path": "support/reply", "prompt": "Hello {{ name }}" }
 */
export const CreateDocumentBody = absent({ path: DocumentPath, prompt: PromptText.default('') }).meta({
  id: 'CreateDocumentBody',
})
export type CreateDocumentBody = z.input<typeof CreateDocumentBody>

/**
 * The body that gets a prompt or creates it with `prompt` as its text.
 *
 * @example
 * { "path": "support/reply" }
 */
export const GetOrCreateDocumentBody = absent({ path: DocumentPath, prompt: PromptText.default('') }).meta({
  id: 'GetOrCreateDocumentBody',
})
export type GetOrCreateDocumentBody = z.input<typeof GetOrCreateDocumentBody>

/**
 * The body that creates a prompt or replaces its text.
 *
 * @example
 * { "path": "support/reply", "prompt": "Hello {{ name }}", "baseHash": "" } // only when there is none yet
 */
export const CreateOrUpdateDocumentBody = absent({
  path: DocumentPath,
  prompt: PromptText,
  force: z.boolean().default(false).meta({
    description: 'Permits a merged version to be changed; the key then needs `publish` too.',
  }),
  ...expectedHashes,
}).meta({ id: 'CreateOrUpdateDocumentBody' })
export type CreateOrUpdateDocumentBody = z.input<typeof CreateOrUpdateDocumentBody>

/**
 * The prompt that was deleted.
 *
 * @example
 * { "documentUuid": "0b7e…", "path": "support/reply" }
 */
export const DeletedDocument = z.object({ documentUuid: Uuid, path: z.string() }).meta({ id: 'DeletedDocument' })
export type DeletedDocument = z.infer<typeof DeletedDocument>

const base = '/projects/:projectId/versions/:versionUuid/documents'

export const documents = c.router({
  list: {
    method: 'GET',
    path: base,
    summary: 'List prompts',
    description: 'All prompts that the version shows, ordered by path.',
    pathParams: VersionParams,
    query: ListDocumentsQuery,
    responses: withErrors({ 200: orTap(z.array(Document)) }),
    metadata: {
      scope: 'read',
      rateLimited: true,
      idempotent: false,
      streams: false,
      errors: ['too-many-evaluations'],
    } as const satisfies RouteMetadata,
  },
  create: {
    method: 'POST',
    path: base,
    summary: 'Create a prompt',
    description: 'In a draft, at a path where there is none; else 409.',
    pathParams: VersionParams,
    body: CreateDocumentBody,
    responses: withErrors({ 200: orTap(Document) }),
    metadata: {
      scope: 'write',
      rateLimited: true,
      idempotent: true,
      streams: false,
      errors: ['invalid-path', 'merged-version', 'path-taken', 'too-many-evaluations'],
    } as const satisfies RouteMetadata,
  },
  get: {
    method: 'GET',
    path: `${base}/:path`,
    summary: 'Get a prompt',
    description: 'One that does not compile is returned too, with its `errors`.',
    pathParams: DocumentParams,
    responses: withErrors({ 200: orTap(Document), 304: c.noBody() }),
    metadata: {
      scope: 'read',
      rateLimited: true,
      idempotent: false,
      streams: false,
      errors: ['too-many-evaluations'],
      preconditions: ['If-None-Match'],
    } as const satisfies RouteMetadata,
  },
  getOrCreate: {
    method: 'POST',
    path: `${base}/get-or-create`,
    summary: 'Get a prompt or create it',
    description: 'A prompt that exists comes back unchanged. A missing one can only be created in a draft.',
    pathParams: VersionParams,
    body: GetOrCreateDocumentBody,
    responses: withErrors({ 200: orTap(Document) }),
    metadata: {
      scope: 'write',
      rateLimited: true,
      idempotent: true,
      streams: false,
      errors: ['invalid-path', 'merged-version', 'too-many-evaluations'],
    } as const satisfies RouteMetadata,
  },
  createOrUpdate: {
    method: 'POST',
    path: `${base}/create-or-update`,
    summary: 'Create a prompt or replace its text',
    description:
      'The text is not compiled here: a draft may hold one that does not parse. A merged version needs `force`. ' +
      'Writing what is there already changes nothing.',
    pathParams: VersionParams,
    body: CreateOrUpdateDocumentBody,
    responses: withErrors({ 200: orTap(Document) }),
    metadata: {
      scope: 'write',
      rateLimited: true,
      idempotent: true,
      streams: false,
      errors: [
        'invalid-path',
        'merged-version',
        'live-hash-of-merged',
        'missing-publish-scope',
        'other-base',
        'other-live',
        'too-many-evaluations',
      ],
      preconditions: ['If-Match', 'If-None-Match'],
    } as const satisfies RouteMetadata,
  },
  delete: {
    method: 'DELETE',
    path: `${base}/:path`,
    summary: 'Delete a prompt',
    description: 'Marks it deleted in a draft; what is live still serves it. A revert brings it back.',
    pathParams: DocumentParams,
    responses: withErrors({ 200: DeletedDocument }),
    metadata: {
      scope: 'write',
      rateLimited: true,
      idempotent: false,
      streams: false,
      errors: ['merged-version'],
      preconditions: ['If-Match'],
    } as const satisfies RouteMetadata,
  },
})
