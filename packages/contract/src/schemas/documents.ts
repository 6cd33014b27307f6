import { initContract } from '@ts-rest/core'
import { z } from 'zod'
import {
  absent,
  ContentHash,
  DocumentParams,
  DocumentPath,
  expectedHashes,
  type Held,
  Id,
  JsonObject,
  orRaw,
  Person,
  PromptText,
  Timestamp,
  Uuid,
  VersionParams,
} from '../common.ts'
import { withErrors } from '../errors.ts'
import { flag, pageSize } from '../query-values.ts'
import type * as vocabulary from '../vocabulary/index.ts'
import { Message } from './messages.ts'
import { ProviderKind } from './provider-api-keys.ts'

const c = initContract()

const issueShape = {
  code: z.string(),
  message: z.string(),
  line: z.int(),
  column: z.int(),
  endLine: z.int().exactOptional(),
  endColumn: z.int().exactOptional().meta({ description: 'The column after the error; absent if unknown.' }),
  frame: z.string().meta({ description: 'The lines around the error, with a marker below it.' }),
}

export const CompileIssue = z
  .object({
    ...issueShape,
    path: z
      .string()
      .exactOptional()
      .meta({ description: 'A referenced prompt with the error; absent for the prompt itself.' }),
  })
  .meta({ id: 'CompileIssue' })
export type CompileIssue = Held<z.infer<typeof CompileIssue>, vocabulary.CompileIssue>

export const LocatedIssue = z
  .object({
    ...issueShape,
    path: z.string().meta({ description: 'The prompt with the error, possibly a referenced one.' }),
  })
  .meta({ id: 'LocatedIssue' })
export type LocatedIssue = Held<z.infer<typeof LocatedIssue>, vocabulary.LocatedIssue>

export const PromptIssue = z
  .object({
    severity: z.enum(['error', 'warning']).meta({ description: 'A run refuses a prompt with an error.' }),
    ...issueShape,
  })
  .meta({ id: 'PromptIssue' })
export type PromptIssue = Held<z.infer<typeof PromptIssue>, vocabulary.PromptIssue>

const issues = z
  .array(PromptIssue)
  .max(20)
  .meta({ description: 'Settings that a run refuses, and warnings, errors first. `errors` has what does not compile.' })

export const DocumentParameter = z
  .looseObject({ type: z.enum(['text', 'image', 'file']), required: z.boolean().exactOptional() })
  .meta({ id: 'DocumentParameter' })
export type DocumentParameter = Held<z.infer<typeof DocumentParameter>, vocabulary.DocumentParameter>

export const Document = z
  .object({
    id: Id.meta({ description: 'The id of this prompt in the version that last changed it.' }),
    documentUuid: Uuid.meta({ description: 'The same in all versions.' }),
    uuid: Uuid.meta({ description: 'The same as `documentUuid`.' }),
    path: z.string(),
    content: z.string().meta({ description: 'The prompt, exactly as stored.' }),
    resolvedContent: z.string().meta({ description: 'The content without comments and with references inlined.' }),
    contentHash: ContentHash.meta({ description: 'SHA-256 of `content`: the first 64 digits of the ETag.' }),
    commitId: Id.meta({ description: 'The version that last changed the text.' }),
    versionUuid: Uuid.meta({ description: 'The uuid of the requested version, also for `live`.' }),
    projectId: Id,
    config: JsonObject.meta({ description: 'The parsed front matter; `{}` if it is missing or invalid.' }),
    parameters: z.record(z.string(), DocumentParameter).meta({
      description: 'The declared parameters and every free variable, including those of referenced prompts.',
    }),
    provider: ProviderKind.exactOptional().meta({ description: 'Absent if no configured provider key matches.' }),
    errors: z.array(CompileIssue).max(20).meta({ description: 'Why the prompt does not compile; empty if it does.' }),
    issues,
    createdAt: Timestamp,
    updatedAt: Timestamp,
    mergedAt: Timestamp.nullable(),
    deletedAt: Timestamp.nullable(),
    updatedBy: Person.nullable().meta({ description: 'Null if an earlier release stored the text.' }),
  })
  .meta({ id: 'Document' })
export type Document = Held<z.infer<typeof Document>, vocabulary.Document>

export const ListedDocument = Document.extend({
  resolvedContent: Document.shape.resolvedContent.exactOptional().meta({
    description: 'The content without comments and with references inlined. Absent with `resolved=false`.',
  }),
}).meta({ id: 'ListedDocument' })
export type ListedDocument = Held<z.infer<typeof ListedDocument>, vocabulary.ListedDocument>

export const ListDocumentsQuery = z.object({
  prefix: z.string().exactOptional().meta({ description: 'The start of the path.' }),
  resolved: flag.exactOptional().meta({ description: 'With `false`, `resolvedContent` is left out. Default: `true`.' }),
  limit: pageSize.exactOptional().meta({ description: 'Default: all. A page with fewer prompts is the last one.' }),
  cursor: z.string().exactOptional().meta({ description: 'The `path` of the last prompt of the previous page.' }),
})
export type ListDocumentsQuery = Held<z.input<typeof ListDocumentsQuery>, vocabulary.ListDocumentsQuery>

export const CreateDocumentBody = absent({ path: DocumentPath, prompt: PromptText.default('') }).meta({
  id: 'CreateDocumentBody',
})
export type CreateDocumentBody = Held<z.input<typeof CreateDocumentBody>, vocabulary.CreateDocumentBody>

export const GetOrCreateDocumentBody = absent({ path: DocumentPath, prompt: PromptText.default('') }).meta({
  id: 'GetOrCreateDocumentBody',
})
export type GetOrCreateDocumentBody = Held<z.input<typeof GetOrCreateDocumentBody>, vocabulary.GetOrCreateDocumentBody>

export const CreateOrUpdateDocumentBody = absent({
  path: DocumentPath,
  prompt: PromptText,
  force: z.boolean().default(false).meta({
    description: 'Allow a merged version to change. The key then also needs `publish`.',
  }),
  ...expectedHashes,
}).meta({ id: 'CreateOrUpdateDocumentBody' })
export type CreateOrUpdateDocumentBody = Held<
  z.input<typeof CreateOrUpdateDocumentBody>,
  vocabulary.CreateOrUpdateDocumentBody
>

export const DeletedDocument = z.object({ documentUuid: Uuid, path: z.string() }).meta({ id: 'DeletedDocument' })
export type DeletedDocument = Held<z.infer<typeof DeletedDocument>, vocabulary.DeletedDocument>

export const CheckDocumentBody = absent({
  path: DocumentPath,
  prompt: PromptText.exactOptional().meta({
    description: 'Checked instead of the stored text. The key then also needs `write`.',
  }),
  parameters: JsonObject.exactOptional().meta({ description: 'Values of the parameters by name, for `messages`.' }),
}).meta({ id: 'CheckDocumentBody' })
export type CheckDocumentBody = Held<z.input<typeof CheckDocumentBody>, vocabulary.CheckDocumentBody>

export const DocumentCheck = z
  .object({
    contentHash: ContentHash,
    errors: z
      .array(LocatedIssue)
      .max(20)
      .meta({ description: 'Empty if the prompt compiles and its first step renders.' }),
    issues,
    config: JsonObject,
    parameters: z.record(z.string(), DocumentParameter),
    provider: ProviderKind.exactOptional().meta({ description: 'Absent if no configured provider key matches.' }),
    references: z.array(z.object({ path: z.string(), documentUuid: Uuid.nullable() })).meta({
      description: 'The prompts that the text refers to. `documentUuid` is null for a missing prompt.',
    }),
    referencedBy: z
      .array(z.object({ path: z.string(), documentUuid: Uuid }))
      .meta({ description: 'The prompts of the version that refer to this path.' }),
    messages: z.array(Message).nullable().meta({
      description: 'The first step as the model would receive it. Null without `parameters`, or with errors.',
    }),
  })
  .meta({ id: 'DocumentCheck' })
export type DocumentCheck = Held<z.infer<typeof DocumentCheck>, vocabulary.DocumentCheck>

export const documentRoutes = {
  list: {
    summary: 'List prompts',
    description:
      'Returns all prompts of the version, ordered by path. 413 if they exceed 64 MB: leave out the resolved texts with ' +
      '`resolved=false`, or read pages with `limit` and `cursor`.',
    pathParams: VersionParams,
    query: ListDocumentsQuery,
    responses: withErrors({ 200: orRaw(z.array(ListedDocument)) }),
  },
  create: {
    summary: 'Create a prompt',
    description: 'Creates a prompt in a draft. 409 if the path has one.',
    pathParams: VersionParams,
    body: CreateDocumentBody,
    responses: withErrors({ 200: orRaw(Document) }),
  },
  get: {
    summary: 'Get a prompt',
    description: 'Also returns a prompt that does not compile, with its `errors`.',
    pathParams: DocumentParams,
    responses: withErrors({ 200: orRaw(Document), 304: c.noBody() }),
  },
  getOrCreate: {
    summary: 'Get a prompt or create it',
    description: 'Returns an existing prompt unchanged. A missing one is created, in a draft only.',
    pathParams: VersionParams,
    body: GetOrCreateDocumentBody,
    responses: withErrors({ 200: orRaw(Document) }),
  },
  createOrUpdate: {
    summary: 'Create a prompt or replace its text',
    description:
      'A draft may contain a text that does not compile. A merged version needs `force`. Writing the same text again ' +
      'changes nothing.',
    pathParams: VersionParams,
    body: CreateOrUpdateDocumentBody,
    responses: withErrors({ 200: orRaw(Document) }),
  },
  delete: {
    summary: 'Delete a prompt',
    description: 'Deletes it in the draft. Live keeps it until the draft is published. A revert restores it.',
    pathParams: DocumentParams,
    responses: withErrors({ 200: DeletedDocument }),
  },
  check: {
    summary: 'Check a prompt',
    description:
      'Compiles the stored prompt, or the text in `prompt`, with the references of the version. Stores nothing. With ' +
      '`parameters`, also renders the messages of the first step. 422 if parameters are missing or invalid.',
    pathParams: VersionParams,
    body: CheckDocumentBody,
    responses: withErrors({ 200: DocumentCheck }),
  },
} as const
