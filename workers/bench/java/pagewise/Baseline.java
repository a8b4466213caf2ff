package pagewise;

/** Marks the method that the others are compared with; without one it is the first. */
@java.lang.annotation.Target(java.lang.annotation.ElementType.METHOD)
public @interface Baseline {
}
