import type { Version } from '@stet/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { Hidden, join } from '../../../ui/button.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { Live } from '../../../ui/mark.tsx'
import { Menu, MenuGroup, MenuItem, MenuLink, MenuSeparator } from '../../../ui/menu.tsx'
import { counted } from '../../../ui/time.tsx'
import { toChanges, toPrompt, toPrompts } from '../../addresses.ts'
import { versionsQuery } from '../../queries.ts'
import { useBlocked, useSession } from '../../session.ts'
import css from '../frame.module.css'
import { openOverlay } from '../overlays.tsx'
import { useIsUnknownVersion } from '../place.ts'

/** A longer list has a filter. */
const mostDrafts = 7

interface VersionProps {
  projectId: number
  /** `live` or a uuid. */
  version: string
}

/** Shows the version whose prompts the screen shows, and opens the list of versions. */
export function VersionSwitch({ projectId, version }: VersionProps) {
  const { data } = useQuery(versionsQuery(projectId))
  const shown = data?.find(({ uuid, isLive }) => (version === 'live' ? isLive : uuid === version))
  const isDraft = shown?.status === 'draft'
  const isUnknown = useIsUnknownVersion(projectId, version)
  return (
    <>
      <Menu
        trigger={
          <button type="button" className={css['switch']} title={shown?.title}>
            <Hidden>Version: </Hidden>
            {isDraft && <Icon name="draft" size={14} />}
            <span className={css['switchText']}>
              {isDraft ? (
                shown.title
              ) : shown && !shown.isLive ? (
                `v${shown.version}`
              ) : isUnknown ? (
                'Unknown version'
              ) : !shown && version !== 'live' ? (
                'Version'
              ) : (
                <LiveName number={shown?.version} />
              )}
            </span>
            <Icon name="updown" size={14} />
          </button>
        }
      >
        <VersionItems projectId={projectId} version={version} />
      </Menu>
      {isDraft && <ChangesLink changeCount={shown.changeCount} />}
    </>
  )
}

function LiveName({ number }: { number: number | null | undefined }) {
  return (
    <>
      <Live>Live</Live>
      {number && ` v${number}`}
    </>
  )
}

function ChangesLink({ changeCount }: { changeCount: number }) {
  const { project, version } = useParams({ strict: false })
  if (!project || !version) return null
  return (
    <Link {...toChanges(project, version)} className={css['changes']}>
      <span>Changes</span>
      <span className={join(css['count'], changeCount === 0 && css['countNone'])}>{changeCount}</span>
    </Link>
  )
}

/** Live, the drafts with changes, and on request the drafts without. */
function VersionItems({ projectId, version }: VersionProps) {
  const { data = [] } = useQuery(versionsQuery(projectId))
  const { author } = useSession().apiKey
  const needsWrite = useBlocked('write')
  const [showsUnchanged, setShowsUnchanged] = useState(false)
  const live = data.find(({ isLive }) => isLive)
  const older = data.find(({ uuid, isLive, status }) => uuid === version && !isLive && status === 'merged')
  const drafts = data.filter(({ status }) => status === 'draft')
  const isShown = (draft: Version) => showsUnchanged || draft.changeCount > 0 || draft.uuid === version
  const hidden = drafts.filter((draft) => !isShown(draft)).length
  const groups = [
    { label: 'Your drafts', drafts: drafts.filter((draft) => isShown(draft) && draft.authorId === author.id) },
    { label: 'Drafts of others', drafts: drafts.filter((draft) => isShown(draft) && draft.authorId !== author.id) },
  ]
  return (
    <>
      <VersionLink to="live" isOpen={version === 'live'} note={live ? live.title : 'nothing is live yet'}>
        <Live>Live</Live>
        {live && ` v${live.version}`}
      </VersionLink>
      {older && (
        <VersionLink to={older.uuid} isOpen note={older.title}>
          v{older.version}
        </VersionLink>
      )}
      {drafts.length > mostDrafts && <MenuItem onSelect={() => openOverlay('find-version')}>Find a version…</MenuItem>}
      {groups.map(
        ({ label, drafts }) =>
          drafts.length > 0 && (
            <MenuGroup key={label} label={label}>
              {drafts.map((draft) => (
                <VersionLink
                  key={draft.uuid}
                  to={draft.uuid}
                  isOpen={draft.uuid === version}
                  note={noteOf(draft, author.id)}
                >
                  {draft.title}
                </VersionLink>
              ))}
            </MenuGroup>
          ),
      )}
      <MenuSeparator />
      {hidden > 0 && (
        <MenuItem staysOpen onSelect={() => setShowsUnchanged(true)}>
          Show {counted(hidden, 'draft')} without changes
        </MenuItem>
      )}
      <MenuItem blocked={needsWrite} onSelect={() => openOverlay('new-draft')}>
        New draft…
      </MenuItem>
      {drafts.some(({ uuid }) => uuid === version) && (
        <>
          <MenuItem blocked={needsWrite} onSelect={() => openOverlay('rename-draft')}>
            Name and notes…
          </MenuItem>
          <MenuItem danger blocked={needsWrite} onSelect={() => openOverlay('delete-draft')}>
            Delete draft…
          </MenuItem>
        </>
      )}
    </>
  )
}

/** "Ana, 2 changes" */
function noteOf(draft: Version, ownId: number): string {
  const changes = counted(draft.changeCount, 'change')
  return draft.authorId === ownId ? changes : `${draft.authorName}, ${changes}`
}

/** Leads to the same prompt in another version, or to its prompts. */
function VersionLink({ to, isOpen, note: text, children }: VersionLinkProps) {
  const { project = '', _splat } = useParams({ strict: false })
  const link = _splat ? <Link {...toPrompt(project, to, _splat)} search={true} /> : <Link {...toPrompts(project, to)} />
  const note = (
    <>
      {text} {isOpen && <Icon name="check" size={14} />}
    </>
  )
  return <MenuLink {...{ link, note, children }} />
}

interface VersionLinkProps {
  to: string
  isOpen: boolean
  note: string
  children: ReactNode
}
