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
  PromptText,
  Timestamp,
  Uuid,
  VersionParams,
} from '../common.ts'
import { withErrors } from '../errors.ts'
import type * as vocabulary from '../vocabulary/index.ts'
import { ProviderKind } from './provider-api-keys.ts'

const c = initContract()

export const CompileIssue = z
  .object({
    code: z.string(),
    message: z.string(),
    line: z.int(),
    column: z.int(),
    frame: z.string().meta({ description: 'The lines around the fault, with a mark below it.' }),
  })
  .meta({ id: 'CompileIssue' })
export type CompileIssue = Held<z.infer<typeof CompileIssue>, vocabulary.CompileIssue>

export const DocumentParameter = z
  .looseObject({ type: z.enum(['text', 'image', 'file']), required: z.boolean().exactOptional() })
  .meta({ id: 'DocumentParameter' })
export type DocumentParameter = Held<z.infer<typeof DocumentParameter>, vocabulary.DocumentParameter>

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
export type Document = Held<z.infer<typeof Document>, vocabulary.Document>

export const ListDocumentsQuery = z.object({
  prefix: z.string().exactOptional().meta({ description: 'The leading part of the path.' }),
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
    description: 'Permits a merged version to be changed; the key then needs `publish` too.',
  }),
  ...expectedHashes,
}).meta({ id: 'CreateOrUpdateDocumentBody' })
export type CreateOrUpdateDocumentBody = Held<
  z.input<typeof CreateOrUpdateDocumentBody>,
  vocabulary.CreateOrUpdateDocumentBody
>

export const DeletedDocument = z.object({ documentUuid: Uuid, path: z.string() }).meta({ id: 'DeletedDocument' })
export type DeletedDocument = Held<z.infer<typeof DeletedDocument>, vocabulary.DeletedDocument>

export const documentRoutes = {
  list: {
    summary: 'List prompts',
    description: 'All prompts that the version shows, ordered by path.',
    pathParams: VersionParams,
    query: ListDocumentsQuery,
    responses: withErrors({ 200: orRaw(z.array(Document)) }),
  },
  create: {
    summary: 'Create a prompt',
    description: 'In a draft, at a path where there is none; else 409.',
    pathParams: VersionParams,
    body: CreateDocumentBody,
    responses: withErrors({ 200: orRaw(Document) }),
  },
  get: {
    summary: 'Get a prompt',
    description: 'One that does not compile is returned too, with its `errors`.',
    pathParams: DocumentParams,
    responses: withErrors({ 200: orRaw(Document), 304: c.noBody() }),
  },
  getOrCreate: {
    summary: 'Get a prompt or create it',
    description: 'A prompt that exists comes back unchanged. A missing one can only be created in a draft.',
    pathParams: VersionParams,
    body: GetOrCreateDocumentBody,
    responses: withErrors({ 200: orRaw(Document) }),
  },
  createOrUpdate: {
    summary: 'Create a prompt or replace its text',
    description:
      'The text is not compiled here: a draft may hold one that does not parse. A merged version needs `force`. ' +
      'Writing what is there already changes nothing.',
    pathParams: VersionParams,
    body: CreateOrUpdateDocumentBody,
    responses: withErrors({ 200: orRaw(Document) }),
  },
  delete: {
    summary: 'Delete a prompt',
    description: 'Marks it deleted in a draft; what is live still serves it. A revert brings it back.',
    pathParams: DocumentParams,
    responses: withErrors({ 200: DeletedDocument }),
  },
} as const
