package pagewise;

/** Parameters with their values, on the class: <code>@Param({"bytes=1MiB,64MiB", "way=small,large"})</code>. */
@java.lang.annotation.Target(java.lang.annotation.ElementType.TYPE)
public @interface Param {
    String[] value();
}
