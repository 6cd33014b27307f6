/** SQL statements that quickly multiply one project's rows. Each row looks like one that the server wrote. */

export interface Filling {
  projectId: number
  /** The prompt that is copied, with its newest conversation and external log. */
  path: string
  documents: number
  /** Conversations with one run each. The same number of external logs is added. */
  conversations: number
  /** Published versions that are added after the live one. The newest of them becomes live. */
  versions: number
}

export function fillingStatements({ projectId, path, documents, conversations, versions }: Filling): string[] {
  const project = `project_id = ${projectId}`
  return [
    `INSERT INTO document (document_uuid, project_id, version_id, path, content, content_hash, valid_from, valid_to)
     SELECT gen_random_uuid(), d.project_id, d.version_id, 'filling-' || i % 1000 || '/prompt-' || i, d.content, d.content_hash,
       d.valid_from, d.valid_to
     FROM document d, generate_series(1, ${documents}) i
     WHERE d.${project} AND d.path = '${path}' AND d.valid_to = 2147483647`,
    copiedConversations(`c.${project} AND c.path = '${path}' AND c.epoch > 0`, 'run', conversations),
    `INSERT INTO run (uuid, conversation_uuid, workspace_id, project_id, document_uuid, version_uuid, mode, owner_id, epoch, status, first_event_id, last_event_id, result,
       event_log, created_at, ended_at)
     SELECT md5('attempt' || i)::uuid, md5('run' || i)::uuid, r.workspace_id, r.project_id, r.document_uuid, r.version_uuid, r.mode, r.owner_id, r.epoch, r.status, r.first_event_id,
       r.last_event_id, r.result, r.event_log, r.created_at - i * interval '1 second', r.ended_at - i * interval '1 second'
     FROM (SELECT run.* FROM run JOIN conversation c ON c.uuid = run.conversation_uuid
           WHERE c.${project} AND c.path = '${path}' ORDER BY run.created_at DESC LIMIT 1) r,
       generate_series(1, ${conversations}) i`,
    copiedConversations(`c.${project} AND c.path = '${path}' AND c.epoch = 0`, 'log', conversations),
    `INSERT INTO log_entry (conversation_uuid, version_id, parameters, duration_ms, trace_id, prompt_span_id, completion_span_id)
     SELECT md5('log' || i)::uuid, l.version_id, l.parameters, l.duration_ms, l.trace_id, l.prompt_span_id, l.completion_span_id
     FROM (SELECT log_entry.* FROM log_entry ORDER BY id DESC LIMIT 1) l, generate_series(1, ${conversations}) i`,
    `INSERT INTO annotation (uuid, workspace_id, conversation_uuid, evaluation_uuid, version_uuid, author_id, score,
       normalized_score, has_passed, metadata, created_at)
     SELECT md5('score' || i)::uuid, a.workspace_id, md5('run' || i)::uuid, a.evaluation_uuid, a.version_uuid, a.author_id, a.score,
       a.normalized_score, a.has_passed, a.metadata, a.created_at
     FROM (SELECT annotation.* FROM annotation ORDER BY id DESC LIMIT 1) a, generate_series(1, ${conversations}) i`,
    `INSERT INTO version (uuid, project_id, author_id, title, number, merged_at)
     SELECT md5('version' || i)::uuid, v.project_id, v.author_id, 'version ' || i, v.number + i, v.merged_at
     FROM version v JOIN project p ON p.live_version_id = v.id, generate_series(1, ${versions}) i WHERE p.id = ${projectId}`,
    `UPDATE project SET live_version_id =
       (SELECT id FROM version WHERE ${project} AND number IS NOT NULL ORDER BY number DESC LIMIT 1) WHERE id = ${projectId}`,
    // Updates the planner's statistics, as on a long-running server.
    'ANALYZE',
  ]
}

function copiedConversations(which: string, name: string, count: number): string {
  return `
    INSERT INTO conversation (uuid, workspace_id, project_id, version_uuid, document_uuid, path, content_hash, custom_identifier,
      origin, config, messages, status, epoch, last_event_id, created_at, updated_at)
    SELECT md5('${name}' || i)::uuid, c.workspace_id, c.project_id, c.version_uuid, c.document_uuid, c.path, c.content_hash,
      '${name}-customer-' || i % 1000, c.origin, c.config, c.messages, c.status, c.epoch, c.last_event_id,
      c.created_at - i * interval '1 second', c.updated_at - i * interval '1 second'
    FROM (SELECT c.* FROM conversation c WHERE ${which} ORDER BY c.created_at DESC LIMIT 1) c, generate_series(1, ${count}) i`
}
