import type { Run, RunDetails } from '@stet/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { versionsQuery } from '../../../app/queries.ts'
import { useBlocked } from '../../../app/session.ts'
import { useShortcut } from '../../../app/shortcuts.ts'
import { isActiveRun, noFigure, runCost, runDuration, runTokens } from '../../../runs/run-figures.ts'
import { ownTags, RunState, Tags } from '../../../runs/run-state.tsx'
import { Button, join } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy.tsx'
import { withSigns } from '../../../ui/hidden-characters.ts'
import layout from '../../../ui/styles/layout.module.css'
import { Figure, Figures } from '../../../ui/table.tsx'
import { durationText, Time } from '../../../ui/time.tsx'
import { versionName } from '../filters.ts'
import css from './inspector.module.css'
import { Labels } from './labels.tsx'
import { RunActions } from './run-actions.tsx'
import type { Followed } from './trace/follow-events.ts'
import { versionRef } from './version-ref.ts'

interface RunHeadProps {
  run: RunDetails
  /** The runs of the conversation, oldest first. */
  runs: readonly Run[]
  followed: Followed
}

/** State, origin and figures of the run, what people say about it, and what can be done with it. */
export function RunHead({ run, runs, followed }: RunHeadProps) {
  const { projectId, path, versionUuid, status, uuid } = run
  const { data: versions } = useQuery(versionsQuery(projectId))
  const version = versionName(versions, versionUuid)
  const params = { project: String(projectId), version: versionRef(projectId, versionUuid), _splat: path }
  return (
    <header className={layout['stack']}>
      <Link to="/p/$project/runs" params={{ project: String(projectId) }} className={css['back']}>
        <span aria-hidden="true">← </span>All runs
      </Link>
      <div className={layout['row']}>
        <h1 className={css['title']} tabIndex={-1}>
          <Link to="/p/$project/v/$version/prompts/$" params={params}>
            {path}
          </Link>{' '}
          <span className={css['version']}>@ {version}</span>
        </h1>
        <RunState status={status} />
        <RunActions run={run} />
      </div>
      <p className={join(layout['uuid'], layout['small'], css['uuid'])}>
        <code>{uuid}</code>
        <CopyButton text={uuid} aria-label="Copy the uuid of the run" />
      </p>
      <Facts run={run} followed={followed} />
      <Said run={run} />
      {runs.length > 1 && (
        <nav className={join(layout['row'], css['chips'])} aria-label="Runs of this conversation">
          <span className={layout['small']}>This conversation</span>
          {runs.map((one, at) => (
            <Link
              key={one.uuid}
              to="/runs/$run"
              params={{ run: one.uuid }}
              className={css['chipLink']}
              aria-current={one.uuid === uuid ? 'page' : undefined}
              data-state={one.status}
            >
              {at === 0 ? 'Run' : `Chat ${at}`}
            </Link>
          ))}
        </nav>
      )}
    </header>
  )
}

const ways: Record<string, string> = { api: 'API', console: 'console' }

function Facts({ run, followed }: { run: RunDetails; followed: Followed }) {
  const { model, provider, author, apiKey, customIdentifier, createdAt, via, finishReason, overrides } = run
  const isActive = isActiveRun(run)
  const answering = followed.view.steps.at(-1)
  const firstTokenMs = run.firstTokenMs ?? (isActive ? followed.view.firstTokenMs : null)
  return (
    <Figures wide>
      <Figure label="Model">{withSigns(model ?? (isActive ? answering?.model : null) ?? noFigure)}</Figure>
      <Figure label="Duration">{runDuration(run)}</Figure>
      <Figure label="First token">{firstTokenMs === null ? noFigure : durationText(firstTokenMs)}</Figure>
      <Figure label="Tokens">{runTokens(run)}</Figure>
      <Figure label="Cost">{runCost(run)}</Figure>
      <Figure label="Started">
        <Time at={createdAt} />
      </Figure>
      <Figure label="By">{author ? withSigns(author.name) : noFigure}</Figure>
      <Figure label="With">
        {ways[via] ?? via}
        {apiKey && via === 'api' && ` key ${withSigns(apiKey.name)}`}
      </Figure>
      {customIdentifier && <Figure label="Identifier">{withSigns(customIdentifier)}</Figure>}
      {provider && <Figure label="Provider key">{withSigns(provider)}</Figure>}
      {finishReason && <Figure label="End">{withSigns(finishReason)}</Figure>}
      {overrides && <Figure label="Overrides">{withSigns(JSON.stringify(overrides))}</Figure>}
    </Figures>
  )
}

/** Tags, feedback and the note. */
function Said({ run }: { run: RunDetails }) {
  const { tags, note } = run
  const [isEditing, setEditing] = useState(false)
  const blocked = useBlocked('run')
  useShortcut({ keys: 't', label: 'Edit tags and note', group: 'Run', blocked, run: () => setEditing(true) })
  return (
    <div className={layout['stack']}>
      <div className={join(layout['row'], css['chips'])}>
        <Tags run={run} />
        <Button look="quiet" shortcut="t" blocked={blocked} onClick={() => setEditing(true)}>
          {ownTags(tags).length > 0 || note ? 'Edit tags and note' : 'Add tags and a note'}
        </Button>
      </div>
      {note && (
        <figure className={css['note']}>
          <p className={css['noteText']} dir="auto">
            {withSigns(note.text)}
          </p>
          <figcaption className={layout['small']}>
            {note.author && `${withSigns(note.author.name)}, `}
            <Time at={note.at} />
          </figcaption>
        </figure>
      )}
      {isEditing && <Labels run={run} onClose={() => setEditing(false)} />}
    </div>
  )
}
