/** The face of the control socket: the actor, and what its client on the command line shares with it. */
export { type ControlOptions, controlActor } from './control-actor.ts';
export { MAX_BODY_BYTES } from './control-server.ts';
export type {
  AuditDocument,
  DeadLetterDocument,
  ErrorDocument,
  RunDocument,
  ShownRunDocument,
  StatusDocument,
  TaskDocument,
} from './documents.ts';
export { errorDocument } from './documents.ts';
export type { FlowDocument, FlowStepDocument } from './flow-routes.ts';
export { MOMENT_FORM, parseMoment } from './moment.ts';
export { MAX_LIMIT, MAX_USER_LENGTH, USER_HEADER } from './requests.ts';
export { type SizeDocument, sizeDocument } from './size-document.ts';
export { withSocketAddress } from './socket-file.ts';
