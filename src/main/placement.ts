/** Actor → thread: the table that says where everything runs. Changing a row moves the actor; no code changes. */
import { ActorName, type Placement, ThreadName } from '../actors/protocol.ts';

export const PLACEMENT: Placement = {
  [ActorName.Runs]: ThreadName.Main,
  [ActorName.Store]: ThreadName.Service,
  [ActorName.Telemetry]: ThreadName.Service,
  [ActorName.Control]: ThreadName.Service,
  [ActorName.Io]: ThreadName.Service,
  [ActorName.Guest]: ThreadName.Guest,
};
