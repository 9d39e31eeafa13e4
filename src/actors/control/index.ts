/** The face of the control socket: the actor, and what its client on the command line shares with it. */
export { type ControlOptions, controlActor } from './control-actor.ts';
export { MAX_BODY_BYTES } from './control-server.ts';
export type {
  DeadLetterDocument,
  ErrorDocument,
  RunDocument,
  SizeDocument,
  StatusDocument,
  TaskDocument,
} from './documents.ts';
export { errorDocument, sizeDocument } from './documents.ts';
export { MAX_LIMIT } from './requests.ts';
export { withSocketAddress } from './socket-file.ts';
